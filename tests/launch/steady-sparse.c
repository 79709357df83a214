// A sparse matrix in compressed rows, made in parallel: each rank holds its rows, whose bounds the loop loads
// itself, and the vector. A product that is like the one before takes no page fault, makes no plan and exchanges
// no declarations; what moves is the vector.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 > %t.text 2>&1
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 160 >> %t.text 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 >> %t.text 2>&1
// RUN: FileCheck %s < %t.text
//
// The matrix has 7.2 MB.
//
// CHECK: 60 products
// CHECK: section plans [[PLANS:[0-9]+ [0-9]+]]{{$}}
// CHECK: exchanges [[EXCHANGES:[0-9]+ [0-9]+]]{{$}}
// CHECK: resident KiB {{3[0-9][0-9][0-9] 3[0-9][0-9][0-9]}}{{$}}
// CHECK: 160 products
// CHECK: section plans [[PLANS]]{{$}}
// CHECK: exchanges [[EXCHANGES]]{{$}}
// CHECK: resident KiB {{3[0-9][0-9][0-9] 3[0-9][0-9][0-9]}}{{$}}
// CHECK: 60 products
// CHECK: data bytes {{4[89][0-9][0-9][0-9][0-9][0-9] 4[89][0-9][0-9][0-9][0-9][0-9]}}{{$}}
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 20000 };

int main(int argc, char **argv) {
  int products = atoi(argv[1]), *start = malloc((ROWS + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < ROWS; i++) start[i + 1] = start[i] + 20 + i * 7 % 21;
  int *column = malloc(start[ROWS] * sizeof *column);
  double *value = malloc(start[ROWS] * sizeof *value);
  double *x = malloc(ROWS * sizeof *x), *y = malloc(ROWS * sizeof *y);
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
    for (int k = start[i]; k < start[i + 1]; k++) {
      column[k] = (i * 17 + k * 31) % ROWS;
      value[k] = 0.03;
    }
    x[i] = y[i] = i % 5;
  }
  printf("%d products\n", products);
  for (int product = 0; product < products; product++) {
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; k++) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    double *swap = x;
    x = y;
    y = swap;
  }
  return 0;
}
