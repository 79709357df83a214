// A tuner finds the schedules with which a program costs least, goes on where it was interrupted, and leaves a file of which
// the compiler makes the same program. What a program costs is here what its code takes, so that each run is the same.
//
// RUN: rm -rf %t.d && split-file %s %t.d && cd %t.d && %okl-cc --okl-tune='. ./run' --okl-tune-measure=cost: --okl-tune-runs=1 -O1 --okl-target=cpu chain.c -o chain 2>said.txt; cat said.txt; FileCheck --check-prefix=TUNED --input-file=said.txt %s
// TUNED:      {{^}}okl-tune: own.h:2 has a schedule of its own, which stays
// TUNED-NEXT: {{^}}okl-tune: chain.c:6: as written, cost: {{[0-9]+}}
// TUNED-NEXT: {{^}}okl-tune: 1 of some {{[0-9]+}}, best {{[0-9.]+}} x: chain.c:6 schedule(auto): {{[0-9.]+}} x
// TUNED:      chain.c:6 schedule(tile((64), serial, serial)): {{[0-9.]+}} x
// TUNED:      {{^}}okl-tune: chain.c:6 schedule([[BEST:.+]]){{$}}
// TUNED-NEXT: {{^}}okl-tune: {{1[.][0-9]+}} x as fast as written; the schedules are in okl.schedules, for --okl-schedules=okl.schedules
// RUN: cd %t.d && test ! -e okl.schedules.tuning && cp chain tuned && SOURCE_DATE_EPOCH=0 %okl-cc -O1 --okl-target=cpu --okl-schedules=okl.schedules chain.c -o chain && cmp chain tuned && %okl-cc -O1 --okl-target=cpu chain.c -o chain && ! cmp -s chain tuned
//
// It ends as the signal ends it, with the best so far in the file, and measures nothing twice.
// RUN: cd %t.d && mv okl.schedules whole && rm -f runs && (STOP=9 %okl-cc --okl-tune='. ./run' --okl-tune-measure=cost: --okl-tune-runs=1 -O1 --okl-target=cpu chain.c -o chain; echo "ends with $?") >said.txt 2>&1; cat said.txt; FileCheck --check-prefix=STOPPED --input-file=said.txt %s
// STOPPED: best {{.*}}: chain.c:6 schedule
// STOPPED: {{^}}okl-tune: interrupted; the best so far is 1.{{[0-9]+}} x as fast as written, in okl.schedules; the same command goes on from here
// STOPPED: {{^}}ends with 143
// RUN: cd %t.d && test -e okl.schedules.tuning && rm -f runs && %okl-cc --okl-tune='. ./run' --okl-tune-measure=cost: --okl-tune-runs=1 -O1 --okl-target=cpu chain.c -o chain 2>said.txt; cat said.txt; FileCheck --check-prefix=ON --input-file=said.txt %s && cmp okl.schedules whole && cmp chain tuned
// ON: {{^}}okl-tune: goes on: {{[1-9][0-9]*}} results are known from {{.*}}/okl.schedules.tuning
// ON: {{^}}okl-tune: 1 of some {{[0-9]+}}, best {{.*}} (known)
// ON: x as fast as written
//
// By a makefile: what does not compile chains again cannot be tuned.
// RUN: cd %t.d && %okl-cc --okl-schedules=made --okl-tune='. ./run' --okl-tune-program=chain --okl-tune-build='make OKLCC=%okl-cc' --okl-tune-measure=cost: --okl-tune-runs=1 2>said.txt; cat said.txt; FileCheck --check-prefix=MADE --input-file=said.txt %s && sed 1,2d made >made.txt && sed 1,2d whole | cmp - made.txt && cmp chain tuned
// MADE: x as fast as written; the schedules are in made, for --okl-schedules=made
// RUN: cd %t.d && rm -f chain chain.o chain.d made && cp whole okl.schedules && (%okl-cc --okl-tune=./chain --okl-tune-build='make DEPENDS= OKLCC=%okl-cc' --okl-tune-runs=1; make -q OKLCC=%okl-cc && %okl-cc --okl-tune=./chain --okl-tune-build='make DEPENDS= OKLCC=%okl-cc' || true) 2>&1 | FileCheck --check-prefix=STALE %s && cmp okl.schedules whole && test ! -e okl.schedules.tuning
// STALE: {{^}}okl-cc: error: the build does not compile {{.*}}/chain.c again when the schedules change
// STALE: {{^}}okl-cc: error: no loop chain with schedule(auto) was compiled
//
// What cannot be measured is an error, and changes no file; a program that prints something else is dropped.
// RUN: cd %t.d && cp whole okl.schedules && (for run in 'exit 3' 'echo $$' ./chain 'echo cost: 0'; do echo "$run"; %okl-cc --okl-tune="$run" --okl-tune-measure=cost: -O1 --okl-target=cpu chain.c -o chain; done; %okl-cc --okl-tune='echo $$' chain.c -o chain; %okl-cc --okl-tune=true -c chain.c; %okl-cc --okl-tune-runs=2 chain.c; %okl-cc --okl-tune=true --okl-tune-build=false; %okl-cc --okl-tune=true --okl-tune-build=true chain.c; %okl-cc --okl-tune=true none.c) >said.txt 2>&1; cat said.txt; FileCheck --check-prefix=WRONG --input-file=said.txt %s && cmp okl.schedules whole
// WRONG: exit 3
// WRONG-NEXT: okl-tune: own.h
// WRONG-NEXT: {{^}}okl-cc: error: the program as it is written cannot be measured: it ends with 3
// WRONG: {{^}}okl-cc: error: the program as it is written cannot be measured: it prints no line with 'cost:'
// WRONG: {{^}}okl-cc: error: the program as it is written cannot be measured: it prints no line with 'cost:'
// WRONG: {{^}}okl-cc: error: the program as it is written cannot be measured: it prints no number above 0 behind 'cost:'
// WRONG: {{^}}okl-cc: error: the program as it is written does not do the same each time: it prints '{{[0-9]+}}' in place of '{{[0-9]+}}'; --okl-tune-ignore-output
// WRONG: {{^}}okl-cc: error: --okl-tune goes with the inputs of a whole program, or with --okl-tune-build=COMMAND, which builds it
// WRONG: {{^}}okl-cc: error: --okl-tune=COMMAND, which runs the program, is missing
// WRONG: {{^}}okl-cc: error: the program cannot be built: what builds it ends with 1
// WRONG: {{^}}okl-cc: error: --okl-tune-build=COMMAND builds the program: no inputs can be named, too
// WRONG: {{^}}okl-cc: error: the program cannot be built: what builds it ends with 1
// WRONG: no such file or directory: 'none.c'
// RUN: cd %t.d && %okl-cc --okl-tune='cksum <chain; . ./run' --okl-tune-measure=cost: --okl-tune-runs=1 -O1 --okl-target=cpu chain.c -o chain 2>said.txt; cat said.txt; FileCheck --check-prefix=OTHER --input-file=said.txt %s
// OTHER: chain.c:6 schedule(fuse()): dropped: prints '{{[0-9]+}} {{[0-9]+}}' in place of '
// OTHER: {{^}}okl-tune: chain.c:6 as written
// OTHER: {{^}}okl-tune: 1.00 x as fast as written

//--- run
# The more code the better.
./chain && echo "cost: $((1000 - $(objdump -d chain | wc -l)))"
echo >>runs
test -z "$STOP" || test "$(wc -l <runs)" != "$STOP" || kill -TERM "$PPID"

//--- Makefile
DEPENDS = -MD
chain: chain.o
	$(OKLCC) -O1 --okl-target=cpu chain.o -o chain
chain.o: chain.c
	$(OKLCC) -O1 --okl-target=cpu $(DEPENDS) -c chain.c
-include chain.d

//--- own.h
static void own(void) {
#pragma omplc loopchain schedule()
  {
#pragma omplc for domain(0:0)
    for (int i = 0; i < 1; i++)
      ;
  }
}

//--- chain.c
#include <stdio.h>
#include "own.h"
static double a[1000], b[1000];
int main(void) {
  own();
#pragma omplc loopchain schedule(auto)
  {
#pragma omplc for domain(1:998) with(i) read a{(i-1)} write b{(i)}
    for (int i = 1; i <= 998; i++)
      b[i] = 2 + a[i - 1];
#pragma omplc for domain(1:998) with(i) read b{(i-1),(i)} write a{(i)}
    for (int i = 1; i <= 998; i++)
      a[i] = b[i] + b[i - 1];
  }
  printf("%g\n", a[77]);
}
