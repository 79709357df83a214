// Loop chains with schedule(auto) run as a file of schedules says, wherever the command is given and wherever the chain has
// moved to; a chain that has changed says so and keeps its own, and so does what has a schedule of its own.
//
// RUN: rm -rf %t.d && split-file %s %t.d && cd %t.d && bash -eu make-file %okl-cc 'fuse(), tile((4), serial, serial)' && %okl-cc --okl-target=cpu -w -c chain.c -DSCHEDULE='fuse(), tile((4), serial, serial)' -o own.o && %okl-cc --okl-target=cpu -w -c chain.c --okl-schedules=s -o said.o && cmp own.o said.o && %okl-cc --okl-target=cpu -w -c chain.c -o auto.o && ! cmp -s own.o auto.o
// RUN: cd %t.d && OKL_SCHEDULES=s %okl-cc --okl-target=cpu -w -c chain.c -o said.o && cmp own.o said.o
// RUN: cd %t.d && mkdir build && cd build && %okl-cc --okl-target=cpu -w -O1 -c ../chain.c --okl-schedules=../s -o said.o && %okl-cc --okl-target=cpu -w -O1 -c ../chain.c -DSCHEDULE='fuse(), tile((4), serial, serial)' -o own.o && cmp own.o said.o
// RUN: cd %t.d && (echo; sed 's/a\[i - 1\]/a[i-1]/' chain.c) >moved.c && sed 's/chain.c/moved.c/' s >moved && %okl-cc -c moved.c --okl-schedules=moved -Rpass=okl 2>&1 | FileCheck --check-prefix=MOVED %s
// MOVED-NOT: warning
// MOVED: remark: the loop chain runs as scheduled
// RUN: cd %t.d && %okl-cc --okl-show -c chain.c --okl-schedules=s | FileCheck --check-prefix=SHOWN %s
// SHOWN: -fdepfile-entry=s
// SHOWN: okl-cc --okl-normalize --okl-schedules=s okl.tmp/0/chain.E.i
// RUN: cd %t.d && %okl-cc -E -dD chain.c >chain.i && %okl-cc --okl-normalize --okl-schedules=s chain.i | FileCheck --check-prefix=NORMAL %s
// NORMAL: __okl_omplc_chain("{{.*}}loopchain {{.*}}tile
//
// Plain loops have their own directives again, and nothing of okl's.
// RUN: cd %t.d && bash -eu make-file %okl-cc as-written && %okl-cc -fopenmp --okl-target=cpu -S -emit-llvm -O0 chain.c --okl-schedules=s -o - | FileCheck --check-prefix=PLAIN %s
// PLAIN-NOT: omplc
// PLAIN: call {{.*}}@__kmpc_fork_call
// PLAIN-NOT: omplc
//
// Another schedule than auto stays; code that has changed is noticed, and so is a macro in a domain.
// RUN: cd %t.d && %okl-cc --okl-target=cpu -w -c chain.c -DSCHEDULE=serial --okl-schedules=s -o one.o && %okl-cc --okl-target=cpu -w -c chain.c -DSCHEDULE=serial -o other.o && cmp one.o other.o
// RUN: cd %t.d && for words in -DLAST=6 '-DLAST=7 -DPLUS=-'; do %okl-cc --okl-target=cpu -c chain.c $words --okl-schedules=s -o one.o 2>changed.txt && FileCheck --check-prefix=CHANGED --input-file=changed.txt %s && %okl-cc --okl-target=cpu -w -c chain.c $words -o other.o && cmp one.o other.o || exit 1; done
// CHANGED: {{^}}chain.c:12:34: warning: this loop chain has changed since it was tuned: it runs with its own schedule, and not with that of s{{$}}
//
// Functions that a chain calls are a part of it: a tuner sees their loops, by the chain's names, and what has changed in one of
// them is noticed.
// RUN: cd %t.d && echo >s && rm -f told && OKL_SCHEDULES=s OKL_TUNE_CHAINS=told %okl-cc -w -c calls.c -o told.o && sed 's/^/calls: /' told | FileCheck --check-prefix=CALLS %s
// CALLS: calls: {{.*}}"ranks":[2,1,2,1],{{.*}}"shifts":[0,1,2,3]
// RUN: cd %t.d && (for words in -DSAME '-DTIMES=+' '-DFIRST=2' '-DFROM={(j)}'; do rm -f again && echo $words && OKL_SCHEDULES=s OKL_TUNE_CHAINS=again %okl-cc -w -c calls.c $words -o told.o && cmp -s told again; echo $?; done) | FileCheck --check-prefix=TEXTS %s
// TEXTS: -DSAME
// TEXTS-NEXT: 0
// TEXTS-NEXT: TIMES
// TEXTS-NEXT: 1
// TEXTS-NEXT: FIRST
// TEXTS-NEXT: 1
// TEXTS-NEXT: FROM
// TEXTS-NEXT: 1
//
// What does not compile says where its schedule is from; what is no file of schedules, which line of it is wrong.
// RUN: cd %t.d && bash -eu make-file %okl-cc 'fuse((0),(0)), parallel' && (%okl-cc -c chain.c --okl-schedules=s || true) 2>&1 | FileCheck --check-prefix=ILLEGAL %s
// ILLEGAL: {{^}}chain.c:12:34: error: iterations cannot run in
// ILLEGAL: {{^}}okl-cc: note: schedules from s: those of chain.c:12{{$}}
// RUN: cd %t.d && (echo '#'; echo 'chain.c:12 0123456789abcdef 1.5 schedule(fuse(), tiles)') >bad && (%okl-cc -c chain.c --okl-schedules=bad; %okl-cc -c chain.c --okl-schedules=none; %okl-cc -c chain.c --okl-schedules=; touch plain.c && OKL_SCHEDULES=none %okl-cc -c plain.c && echo plain) 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: {{^}}okl-cc: error: bad:2:50: 'tiles' cannot stand here: there are fuse,
// BAD: {{^}}okl-cc: error: cannot read the schedules of loop chains in none: No such file
// BAD: {{^}}okl-cc: error: unknown option '--okl-schedules='
// BAD: plain
//
// Files of dependencies have it, for whatever compiles chains.
// RUN: cd %t.d && bash -eu make-file %okl-cc auto && %okl-cc -MD -MF chain.d -c chain.c --okl-schedules=s && grep -w s chain.d && %okl-cc -MD -MF plain.d -c plain.c --okl-schedules=s && (! grep -w s plain.d)

//--- make-file
# The number of a chain's text is what a tuner is told.
echo >s
rm -f told
OKL_SCHEDULES=s OKL_TUNE_CHAINS=told $1 -w -c chain.c -o told.o
number=$(sed 's/.*"text":\([0-9]*\).*/\1/' told)
printf 'chain.c:12 %016x 1.50 schedule(%s)\n' "$number" "$2" >s

//--- chain.c
#ifndef SCHEDULE
#define SCHEDULE auto
#endif
#ifndef LAST
#define LAST 7
#endif
#ifndef PLUS
#define PLUS +
#endif
double a[100], b[100];
void f(void) {
#pragma omplc loopchain schedule(SCHEDULE) local(b)
  {
#pragma omplc for domain(1:LAST) with(i) read a{(i-1)} write b{(i)}
#pragma omp parallel for
    for (int i = 1; i <= LAST; i++)
      b[i] = 2 PLUS a[i - 1];
#pragma omplc for domain(1:LAST) with(i) read b{(i-1),(i)} write a{(i)}
    for (int i = 1; i <= LAST; i++)
      a[i] = b[i] + b[i - 1];
  }
}

//--- calls.c
#ifndef TIMES
#define TIMES *
#endif
#ifndef FIRST
#define FIRST 1
#endif
#ifndef FROM
#define FROM {(j - 1), (j + 1)}
#endif
static void inner(double *to, double *from, int n) {
#pragma omplc for domain(FIRST : n) with(j) write to{(j)} read from FROM
  for (int j = FIRST; j <= n; j++)
    to[j] = 2 TIMES (from[j - 1] + from[j + 1]);
}
static void both(double *to, double *between, double *from, int n) {
#pragma omplc for domain(0 : n + 1, 0 : 3) with(i, j) write between{(i)} read from{(i)}
  for (int i = 0; i <= n + 1; i++)
    for (int j = 0; j <= 3; j++)
      between[i] = from[i] + j;
  inner(to, between, n);
}
void calls(double *restrict a, double *restrict b, double *restrict c, int n) {
#pragma omplc loopchain schedule(auto)
  {
    both(a, b, c, n);
    both(c, b, a, n);
  }
}
