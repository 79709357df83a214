// Two sweeps that are one in tiles that overlap, by hand and as `auto` has them: a rank needs rows of others once for both, so
// that there are half as many messages as of the plain loops. No page is asked for, and the same bits are computed.
//
// RUN: clang-22 -O2 -fopenmp -Wno-unknown-pragmas -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: %okl-cc -O2 -fopenmp "-DSCHEDULE=fuse((0), (1)), tile((64), overlap)" %s -o %t.tiles
// RUN: %okl-cc -O2 -fopenmp -DSCHEDULE=auto %s -o %t.auto
// RUN: for pairs in 12 32; do env OKL_STATS=1 OKL_RANKS_PER_NODE=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t $pairs; done > %t.text 2>&1
// RUN: FileCheck --check-prefixes=PLAIN %s < %t.text
// RUN: for way in tiles auto; do for pairs in 12 32; do env OKL_STATS=1 OKL_RANKS_PER_NODE=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t.$way $pairs; done > %t.text 2>&1 || exit 1; FileCheck %s < %t.text || exit 1; done
//
// Of twenty pairs more.
// PLAIN-DAG: 0x1.869ea408aeb05p+19
// PLAIN-DAG: messages [[#A:]] [[#B:]]
// PLAIN:     resident
// PLAIN-DAG: 0x1.869de83502b66p+19
// PLAIN-DAG: messages [[#A+40]] [[#B+40]]
// CHECK-DAG: 0x1.869ea408aeb05p+19
// CHECK-DAG: messages [[#A:]] [[#B:]]
// CHECK-DAG: read faults [[#F:]] [[#G:]]
// CHECK-DAG: diffs 0 0
// CHECK:     resident
// CHECK-DAG: 0x1.869de83502b66p+19
// CHECK-DAG: messages [[#A+20]] [[#B+20]]
// CHECK-DAG: read faults [[#F]] [[#G]]
// CHECK-DAG: diffs 0 0
#include <stdio.h>
#include <stdlib.h>

enum { N = 400 };
static double a[N][N], b[N][N], c[N][N];

#define CHAIN(...) AS_PRAGMA(omplc loopchain __VA_ARGS__)
#define AS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SWEPT(X) (X[i - 1][j] + X[i][j] + X[i + 1][j] + X[i][j - 1] + X[i][j + 1]) * 0.2

static void pair(double (*restrict b)[N], double (*restrict c)[N]) {
  CHAIN(schedule(SCHEDULE) local(a)) {
#pragma omplc for domain(1 : N - 2, 1 : N - 2) with(i, j) write a{(i, j)}, read b{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) a[i][j] = SWEPT(b);
#pragma omplc for domain(2 : N - 3, 2 : N - 3) with(i, j) write c{(i, j)}, read a{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
    for (int i = 2; i < N - 2; i++)
      for (int j = 2; j < N - 2; j++) c[i][j] = SWEPT(a);
  }
}

int main(int argc, char **argv) {
  int pairs = argc > 1 ? atoi(argv[1]) : 2;
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = b[i][j] = c[i][j] = (i * 7 + j * 3) % 11;
  for (int t = 0; t < pairs; t += 2) {
    pair(b, c);
    pair(c, b);
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += b[i][j] * ((i + j) % 3);
  printf("%a\n", sum);
}
