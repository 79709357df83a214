// atomic read and write: what was written before a barrier is read after it, never a torn value.
// threads: any
// libs: -latomic
#include <complex.h>
#include <stdio.h>

int main(void) {
  long x = 0;
  short s = 0;
  double d = 0;
  long double ld = 0;
  double complex z = 0;
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    for (int round = 1; round < 20; round++) {
#pragma omp single
      {
#pragma omp atomic write
        x = round * 0x100000001L;
#pragma omp atomic write seq_cst
        s = (short)-round;
#pragma omp atomic write release
        d = round * 1.5;
#pragma omp atomic write
        ld = round * 2.5L;
#pragma omp atomic write
        z = round + round * 2 * I;
      }
      long rx;
      short rs;
      double rd;
      long double rld;
      double complex rz;
#pragma omp atomic read
      rx = x;
#pragma omp atomic read acquire
      rs = s;
#pragma omp atomic read seq_cst
      rd = d;
#pragma omp atomic read
      rld = ld;
#pragma omp atomic read
      rz = z;
      wrong += rx != round * 0x100000001L || rs != -round || rd != round * 1.5;
      wrong += rld != round * 2.5L || creal(rz) != round || cimag(rz) != 2 * round;
#pragma omp barrier
    }
    // All threads write one variable; a reader gets one of the values.
    for (int k = 0; k < 50; k++) {
      long seen;
#pragma omp atomic write
      x = k % 2 ? -1L : 0x0123456789abcdefL;
#pragma omp atomic read
      seen = x;
      wrong += seen != -1L && seen != 0x0123456789abcdefL;
    }
  }
  printf("%d\n", wrong);
  return 0;
}
