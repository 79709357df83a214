// A file with loop chains is compiled as clang compiles it: warnings, places, macros for them, files of dependencies, files
// between stages, and what only the preprocessor does. What the pass says of chains shows that it has seen them.
//
// RUN: split-file %s %t.d && cd %t.d && bash -eu warnings %okl-cc %okl-c++
// RUN: cd %t.d && bash -eu places %okl-cc
// RUN: cd %t.d && bash -eu dependencies %okl-cc
//
// RUN: cd %t.d && %okl-cc -save-temps -c chain.c 2>said.txt && FileCheck --check-prefix=TEMPS --input-file=chain.i %s && grep 'warning: chain.c:13: the loop chain' said.txt && grep main: chain.s
// TEMPS:      # 1 "chain.c"
// TEMPS-NOT:  #pragma omplc
// TEMPS:      __okl_omplc_chain("\"chain.c\" @13:9 loopchain
// RUN: cd %t.d && %okl-cc -### -c chain.c 2>&1 | FileCheck --check-prefix=COMMANDS %s
// COMMANDS: "-E"
// COMMANDS: "-x" "cpp-output" {{.*}}chain.i"
//
// Nothing in an object says where that was.
// RUN: cd %t.d && for level in "" -g "-O2 -g3" -flto; do %okl-cc -w $level -c chain.c -o made.o && (strings -a made.o | grep -e 'chain[.]i' -e /okl- && exit 1 || true) || exit 1; done
//
// Of several inputs only those with chains are rewritten; from standard input, too, and where they are named in files.
// RUN: cd %t.d && %okl-cc --okl-show -c plain.c chain.c | FileCheck --check-prefix=SOME %s
// SOME:      -E -dD {{.*}}-x c chain.c -o okl.tmp/0/chain.E.i
// SOME-NEXT: okl-cc --okl-normalize okl.tmp/0/chain.E.i >okl.tmp/0/chain.i
// SOME-NEXT: {{.*}} plain.c -x cpp-output okl.tmp/0/chain.i{{$}}
// RUN: cd %t.d && %okl-cc --okl-show -c plain.c | FileCheck --check-prefix=NONE %s
// NONE-NOT: -E
// NONE: {{^}}{{[^ ]*}}clang-22 {{.*}} -c plain.c{{$}}
// RUN: cd %t.d && echo "-O1 -c -x c++ chain.c -o 'of file.o'" >words && %okl-cc @words 2>said.txt && grep 'warning: chain.c:13: the loop chain' said.txt && nm 'of file.o' | grep main
// RUN: cd %t.d && %okl-cc -S -x c - -o - <chain.c 2>said.txt | grep main: && grep 'warning: <stdin>:13: the loop chain' said.txt
// RUN: cd %t.d && cat chain.c | %okl-c++ -S -x c - -o - 2>said.txt | grep main: && grep 'warning: <stdin>:13: the loop chain' said.txt
// RUN: cd %t.d && cat plain.c | %okl-cc -O1 -S -x c - -o - | grep ret
//
// What can be read only once is the compiler's: pipes, and standard input beside a file with chains.
// RUN: cd %t.d && rm -f pipe && mkfifo pipe && (timeout 60 cp plain.c pipe &) && timeout 60 %okl-cc -c -x c pipe -o pipe.o && nm pipe.o | grep ' x$'
// RUN: cd %t.d && cat plain.c | %okl-cc -c -x c /dev/stdin -o pipe.o && nm pipe.o | grep ' x$'
// RUN: cd %t.d && for words in '' --okl-explain; do cat plain.c | %okl-cc -w -r -nostdlib chain.c -x c - $words -o both.o && nm both.o | grep ' x$' && nm both.o | grep main || exit 1; done
//
// A header of the program's may have chains, and so may one of the command's folders; one that is included before as well.
// RUN: cd %t.d && for words in 'user.c' '-Iinclude deep.c' '-I include -x c - <deep.c' '-I include -include deep.h last.c'; do eval "%okl-cc -fopenmp -Rpass=okl $words -c -o header.o" 2>said.txt && grep 'remark: the loop chain runs as scheduled' said.txt || exit 1; done
// RUN: cd %t.d && %okl-cc -fopenmp -Rpass=okl -c user.c 2>&1 | FileCheck --check-prefix=HEADER %s
// HEADER: remark: the loop chain runs as scheduled
// HEADER: note: {{.*}} ./chain.h:3:9{{$}}

//--- warnings
for words in -std=c89 '-std=c23 -fopenmp' '-xc++ -std=c++11' '-xc++ -std=c++23 -fopenmp'; do
  case $words in
  -xc++*) driver=$2 clang=clang++-22 ;;
  *) driver=$1 clang=clang-22 ;;
  esac
  for more in '-Wall -Wextra -pedantic' -Weverything; do
    all="$words $more -Wno-unknown-pragmas -Wno-c++-keyword -c chain.c"
    $clang $all 2>&1 | grep -o 'warning: .*' | sort >clang.txt || true
    $driver $all 2>&1 | grep -o 'warning: .*' | sort >said.txt || true
    # Of the chain the pass says one thing, which is no warning of clang's.
    grep -v Wbackend-plugin said.txt >okl.txt
    diff clang.txt okl.txt || { echo "differ: $all"; exit 1; }
    [ "$(grep -c 'warning: chain.c:13: the loop chain .*Wbackend-plugin' said.txt)" = 1 ]
    [ "$(grep -c Wbackend-plugin said.txt)" = 1 ]
  done
done
grep -q Wunused-variable okl.txt
"$1" -std=c99 -Wall -Wextra -Wno-unused-variable -Wno-backend-plugin -pedantic -Werror -c chain.c

//--- places
for words in -O0 -O1; do
  for one in clang okl; do
    case $one in
    clang) clang-22 $words -g -S -emit-llvm -o $one.ll chain.c ;;
    okl) "$1" --okl-target=cpu $words -g -S -emit-llvm -o $one.ll chain.c 2>said.txt ;;
    esac
    # In macros there are more columns.
    grep -o 'DILocation(line: [0-9]*, column: [0-9]*' $one.ll | grep -v 'line: 2[78],' | sort -u >$one.txt
    grep -o 'DILocation(line: [0-9]*' $one.ll | sort -u >>$one.txt
    grep -o '!DIFile(filename: "[^"]*", directory: "[^"]*"' $one.ll | sort >>$one.txt
    grep -o '!DILocalVariable(name: "[a-z]*"' $one.ll | sort >>$one.txt
  done
  # Numbers of pragmas have places of their own.
  diff clang.txt okl.txt | grep '^<' && { echo "differ: $words"; exit 1; }
  grep -q '^warning: chain.c:18: the loop chain' said.txt
  ! grep 'original source location' said.txt
done
clang-22 -w chain.c -o clang.out
"$1" --okl-target=cpu -w chain.c -o okl.out
./clang.out >clang.txt
./okl.out >okl.txt
diff clang.txt okl.txt
for words in '-E' '-E -dD' '-E -P -C' '-M' '-MM -MT x'; do
  clang-22 $words chain.c >clang.txt
  "$1" $words chain.c >okl.txt
  # Folders of okl's are not read, but named.
  diff clang.txt okl.txt
done

//--- dependencies
rm -f ./*.[ods]
while read -r words; do
  for one in clang okl; do
    mkdir out
    case $one in
    okl) "$1" -w $words chain.c >printed ;;
    clang) clang-22 -w $words chain.c >printed ;;
    esac
    find . -name '*.[od]' -o -name '*.s' -o -path './out/*' | LC_ALL=C sort >>printed
    find . -name '*.d' -exec cat {} + >>printed
    [ ! -e out/f ] || cat out/f >>printed
    mv printed $one.txt
    rm -rf out ./*.[ods]
  done
  diff clang.txt okl.txt || { echo "differ: $words"; exit 1; }
  grep -q macros.h okl.txt
done <<'END'
-MD -c
-MMD -c
-MMD -MP -c
-MD -S
-MMD -c -MF out/f
-MMD -c -MT a$ -MQ b$
-MMD -c -o out/x.y.o
-Wp,-MD,out/f -c
-Wp,-MMD,out/f -c -o out/x.o
-MD -MF out/f -fsyntax-only
END

//--- macros.h
#pragma once
#pragma message("said once")
#define EQ(a, b) ((a) == (b))

//--- chain.h
static void of_header(double *a, int n) {
  int i;
#pragma omplc loopchain schedule()
  {
#pragma omp parallel for
#pragma omplc for domain(0 : n - 1)
    for (i = 0; i < n; ++i)
      a[i] = 1;
  }
}

//--- include/deep.h
#  include <../chain.h>

//--- plain.c
int x(void) { return 1; }

//--- last.c
void f(double *a) { of_header(a, 1); }

//--- user.c
#include "chain.h"
void f(double *a) { of_header(a, 1); }

//--- deep.c
#include <deep.h>
void f(double *a) { of_header(a, 1); }

//--- chain.c
#include "macros.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
double g;
static int count;
int main(void) {
  double a[100], b[100]; /* two */ double   unused;
  int i, k = 3, n = 50;
  for (i = 0; i < 100; ++i) { a[i] = i; b[i] = 0; }
  if (n)
#pragma omplc loopchain schedule(fuse(), tile((n), serial, parallel))
  {
#pragma omp parallel for private(k)    lastprivate(n)
#pragma omplc for domain(1:n) with(i) read A{(i-1)}, write B{(i)}
    for (i = 1; i <= 50; ++i) { k = i; b[i] = a[i - 1] + k; n = i; }
    if (k)
#pragma omplc for domain(0:n)
#pragma omp simd
      for (i = 0; i <= n; ++i) a[i] = b[i];
    else
#pragma omplc for domain(0:n) with(i)
      for (i = 0; i <= n; ++i)
        if (i) a[i] = b[i]; else a[i] = 1;
  }
  assert(n == 50);
  if (EQ(count, 1) || isnan(a[3])) puts("NaN");
  printf("%d %s %f %f %p\n", __LINE__, __FILE__, a[39], b[40], NULL);
  return EXIT_SUCCESS;
}
