// Chains in other orders compute what they did, to the last bit, at all levels: what iterations keep for themselves, what they
// take from around, narrow and wide numbers, and bounds for which there are no iterations.
// RUN: clang-22 -O1 -DPLAIN %s -o %t.plain && %t.plain >%t.want && FileCheck %s <%t.want
// RUN: for level in "-O0 -g" -O1 "-O3 -g"; do for how in fuse "fuse, @7:21 wavefront" parallel "tile((4,5), @7:21 serial, @7:22 serial)" "fuse, @7:21 tile((4,5), @7:22 wavefront, @7:23 serial)" "tile((\$0,\$1), @7:21 parallel, @7:22 serial)"; do clang-22 $level -fopenmp "-DHOW=\"$how\"" -fpass-plugin=%plugin -mllvm -okl-target=cpu %s -o %t.chain 2>%t.told && OMP_NUM_THREADS=3 %t.chain >%t.got && diff %t.want %t.got || exit 1; done; done
#include <stdio.h>
#include <stdlib.h>

void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#ifdef PLAIN
#define CHAIN
#define END
#define FOR(...)
#define NEXT
#else
#define CHAIN __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(@7:20 " HOW ")", 3L, 7L)
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for domain($0:$1,$2:$3) with(i,j) " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()
#endif

// Two sweeps.
static void sweeps(int n, double *restrict A, double *restrict B, float by) {
  CHAIN;
  {
    FOR("write A{(i,j)} read B{(i,j),(i-1,j),(i+1,j),(i,j-1),(i,j+1)}", 1L, (long)n - 2, 1L, (long)n - 2);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double sum = B[i * n + j] + B[(i - 1) * n + j];
        if (sum < 4)
          sum = sum * by;
        sum += B[(i + 1) * n + j] + B[i * n + j - 1] + B[i * n + j + 1];
        A[i * n + j] = (sum + i * j) / 8;
      }
    NEXT;
    FOR("write B{(i,j)} read A{(i,j),(i-1,j),(i+1,j),(i,j-1),(i,j+1)}", 1L, (long)n - 2, 1L, (long)n - 2);
    for (int i = 1; i <= n - 2; ++i)
      for (int j = 1; j <= n - 2; j += 1) {
        double sum = 0;
        if ((i + j) % 3 == 0)
          continue;
        for (int k = -1; k <= 1; k++)
          sum += A[(i + k) * n + j] * by;
        B[i * n + j] = sum / 4 + A[i * n + j - 1] / 8 - A[i * n + j + 1];
      }
    NEXT;
  }
  END;
}

// Variables of the function, and numbers that are not `int`.
static void numbers(unsigned char rows, long columns, double *restrict A, double *restrict B) {
  double kept;
  CHAIN;
  {
    FOR("write A{(i,j)} read B{(i,j)}", 0L, (long)rows - 1, 2L, columns);
    for (unsigned char i = 0; i < rows; i++)
      for (long j = 2; j <= columns; j++) {
        kept = B[i * 40 + j];
        A[i * 40 + j] = kept / 3;
      }
    NEXT;
    FOR("read A{(i,j)} write B{(i,j)}", 0L, (long)rows - 1, 2L, columns);
    for (unsigned i = 0; i < rows; i++)
      for (short j = 2; j <= columns; j++) {
        kept = A[i * 40 + j] / (1 + i);
        B[i * 40 + j] = kept + j;
      }
    NEXT;
  }
  END;
}

int main(void) {
  enum { COUNT = 40 };
  double *A = calloc(COUNT * COUNT, sizeof *A), *B = calloc(COUNT * COUNT, sizeof *B);
  for (int i = 0; i < COUNT * COUNT; i++)
    A[i] = B[i] = i * 7 % 11;
  for (int n = 0; n < 18; n++)
    sweeps(n, A, B, 0.25f);
  for (int n = 0; n < 12; n++)
    numbers(n, 3 * n - 5, A, B);
  double sum = 0;
  for (int i = 0; i < COUNT * COUNT; i++)
    sum += (A[i] + 2 * B[i]) * (i % 17);
  // CHECK: sum 0x
  printf("sum %a\n", sum);
}
