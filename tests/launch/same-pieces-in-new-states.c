// A loop that writes the same small pieces in every state that other loops lead to costs little to remember: pages do
// not serve the region, although its states have more pieces in all than the limit is. (NPB's SP: a time step has
// thousands of loops along lines.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -fopenmp %s -o %t.openmp
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.text 2>&1
// RUN: %t.openmp >> %t.text
// RUN: FileCheck %s < %t.text
//
// CHECK: sum [[SUM:.*]]
// CHECK: barriers 7200 7200
// CHECK: write faults 0 0{{$}}
// CHECK: exchanges {{2[34][0-9][0-9] 2[34][0-9][0-9]$}}
// CHECK: sum [[SUM]]
#include <stdio.h>

enum { ROWS = 1024, STATES = 1200 };
static double pieces[ROWS][4], state[STATES][8];

int main(void) {
#pragma omp parallel
  for (int sweep = 0; sweep < 3 * STATES; sweep++) {
    int at = sweep % STATES;
#pragma omp for
    for (int j = 0; j < 8; j++)
      state[at][j] += sweep + j;
#pragma omp for
    for (int i = 0; i < ROWS; i++)
      pieces[i][1] += i + state[at][i % 8];
  }
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    sum += pieces[i][1];
  for (int at = 0; at < STATES; at++)
    for (int j = 0; j < 8; j++)
      sum += state[at][j];
  printf("sum %.17g\n", sum);
  return 0;
}
