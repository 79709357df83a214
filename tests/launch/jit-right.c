// Versions of regions for values that are known are right where that is not plain to see: in a region that comes to itself with
// other values, where the library writes behind a pointer, in functions of single precision, and where numbers are rounded in
// another way, in this run or in the one that has left its versions on disk.
//
// RUN: %okl-cc --okl-target=cpu -O3 -g -fopenmp --okl-jit -Rpass-missed=okl %s -o %t -lm 2>&1 | FileCheck --check-prefix=REMARK %s
// REMARK: jit-right.c:{{.*}} remark: region is not compiled once more at run time: it may begin once more while it runs
// RUN: OKL_JIT=0 %t > %t.0 && OKL_JIT=0 %t up > %t.up.0
// RUN: export OKL_JIT=sync OKL_JIT_CACHE=%t.d OKL_STATS=1; for n in 1 2; do %t up > %t.up 2> %t.told && cmp %t.up.0 %t.up && %t > %t.found 2>> %t.told && cmp %t.0 %t.found || exit 1; done
// RUN: FileCheck --check-prefix=TOLD %s < %t.told
// TOLD: values: from the cache
// RUN: %okl-cc --okl-target=cpu -O3 -g -fopenmp -frounding-math --okl-jit -Rpass-missed=okl %s -o %t -lm 2>&1 | FileCheck --check-prefix=ROUNDS %s
// ROUNDS: remark: region is not compiled once more at run time: it may set how numbers are rounded
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <stdio.h>

static long total;
static int *place;

static void divide(int n, int factor) {
  if (n == 0)
    return;
#pragma omp parallel num_threads(1) firstprivate(n, factor)
  {
    total += n * factor;
    divide(n - 1, factor + 1);
  }
}

__attribute__((noinline)) static void compute(float a, double b, double *out) {
  int quotient = 100;
  place = &quotient;
#pragma omp parallel num_threads(1)
  {
    out[0] = sinhf(a), out[1] = atanf(a), out[2] = log10f(a);
    out[3] = sqrt(b), out[4] = exp(b), out[5] = log(b + 1), out[6] = b / 3;
    out[7] = remquo(10 * b, 3.0, place);
    out[8] = quotient;
  }
}

// A chain whose tiles have a size that is known when the program runs: one version for each of two.
// TOLD:      okl: versions of sweep.omp_outlined{{.*}}: 18 calls
// TOLD-NEXT: okl:   5 values: from the cache in {{.*}} ms, 12 calls
// TOLD-NEXT: okl:   5 values: from the cache in {{.*}} ms, 6 calls
__attribute__((noinline)) static void sweep(int n, int rows, double *restrict a, double *restrict b) {
#pragma omplc loopchain schedule(tile((rows), parallel, serial))
  {
#pragma omplc for domain(1:n) with (i) write b{(i)}, read a{(i-1),(i)}
    for (int i = 1; i <= n; i++)
      b[i] = a[i - 1] + 0.7 * a[i];
#pragma omplc for domain(1:n) with (i) write a{(i)}, read b{(i)}
    for (int i = 1; i <= n; i++)
      a[i] = b[i] / 3;
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] == 'u')
    fesetround(FE_UPWARD);
  double out[9], cells[128], sums[128];
  for (int n = 0; n < 128; n++)
    cells[n] = 1.0 / (n + 1);
  for (int round = 0; round < 6; round++) {
    divide(4, 1);
    for (int n = 0; n < 3; n++) {
      compute(0x1.07ae14p+0f + n, 3.0 + 7 * n, out);
      for (int at = 0; at < 9; at++)
        printf("%a ", out[at]);
    }
    printf("%ld\n", total);
    for (int n = 0; n < 3; n++)
      sweep(100, 7 + n % 2, cells, sums);
    printf("%a\n", cells[60]);
  }
}
