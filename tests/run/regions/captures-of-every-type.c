// Captured variables of many types, more than fit into registers.
#include <complex.h>
#include <stdio.h>

struct pair {
  char tag;
  double value;
};

int main(void) {
  _Bool truth = 1;
  char c = 'x';
  signed char sc = -7;
  unsigned char uc = 200;
  short s = -30000;
  unsigned short us = 60000;
  int i = -5;
  unsigned u = 4000000000u;
  long l = -1L << 40;
  unsigned long ul = 1UL << 63;
  float f = 1.5f;
  double d = 2.25;
  long double ld = 3.125L;
  double complex z = 1 + 2 * I;
  struct pair p = {'p', 4.5};
  struct pair *pointer = &p;
  int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int out_int[16] = {0};
  double out_double[16] = {0};
#pragma omp parallel for
  for (int k = 0; k < 16; k++) {
    out_int[k] = truth + c + sc + uc + s + us + i + (int)(u % 1000) + (int)(l >> 38) +
                 (int)(ul >> 60) + matrix[k % 2][k % 3] + k;
    out_double[k] = f + d + (double)ld + creal(z) + cimag(z) + p.value + pointer->tag;
  }
#pragma omp parallel firstprivate(truth, c, sc, uc, s, us, i, u, l, ul, f, d, ld, z, p, matrix)
  {
    c += 1, f += 1, ld += 1, z += I, p.value += 1, matrix[1][2] += 1;
#pragma omp for
    for (int k = 0; k < 16; k++) {
      out_int[k] += truth + c + sc + uc + s + us + i + (int)(u % 10) + (int)(l >> 39) +
                    (int)(ul >> 62) + matrix[1][2];
      out_double[k] += f + d + (double)ld + creal(z) + cimag(z) + p.value + p.tag;
    }
  }
  for (int k = 0; k < 16; k++) printf("%d %.3f\n", out_int[k], out_double[k]);
  printf("%c %.1f %.3Lf %.1f %.1f %d\n", c, f, ld, cimag(z), p.value, matrix[1][2]);
  return 0;
}
