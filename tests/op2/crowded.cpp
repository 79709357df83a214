// Where the ranks of a node have more threads than it has processors, threads without work leave theirs at once: one
// rank's would turn where another's could work, and libomp knows its own process only. What the user says holds.
//
// RUN: clang++-22 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t -lomp
// RUN: OMP_NUM_THREADS=$(($(nproc) + 1)) mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t | FileCheck --check-prefix=LEAVE %s
// RUN: OMP_NUM_THREADS=$(($(nproc) + 1)) KMP_BLOCKTIME=150 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t | FileCheck --check-prefix=SAID %s
// RUN: OMP_NUM_THREADS=$(($(nproc) + 1)) %t | FileCheck --check-prefix=ALONE %s
//
// LEAVE-COUNT-2: blocktime 0
// SAID-COUNT-2: blocktime 150
// ALONE: blocktime 200
#include "op_seq.h"

#include <cstdio>

extern "C" int kmp_get_blocktime(void);

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  std::printf("blocktime %d\n", kmp_get_blocktime());
  op_exit();
}
