// Indices that are computed in narrow types, with divisions, remainders and overflow that is meant.
// threads: any
#include <stdio.h>

enum { n = 6000, width = 75 };
static double a[n], b[n], scattered[n], halves[n / 2 + 1], wrapped[n];
static double plane[n / width][width];

int main(void) {
  double sum = 0;
  for (int step = 0; step < 5; step++) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n / width; i++)
      for (int j = 0; j < width; j++) plane[i][j] = plane[i][j] * 0.5 + (i * 7 + j) % 13;
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = plane[i / width][i % width] + step;
#pragma omp parallel for
    for (int i = 0; i < n; i++) scattered[i * 7 % n] = a[i];
#pragma omp parallel for
    for (int i = 0; i < n / 2; i++) halves[i] = scattered[2 * i] - scattered[2 * i + 1];
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[i] = halves[i / 2] + halves[(i + 1) / 2] + a[n - 1 - i];
    // 32-bit numbers without a sign that go below zero and come back.
    unsigned back = 4294967290u;
#pragma omp parallel for
    for (unsigned i = 0; i < n; i++) {
      unsigned at = i + back;
      if (at < n) wrapped[at] += b[at];
    }
#pragma omp parallel for
    for (unsigned i = 0; i < n; i++) wrapped[(i + back + 6) % n] += a[i];
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      unsigned char low = i;
      unsigned short high = i / 256;
      b[high * 256 + low] += scattered[(unsigned short)(i * 3) % n];
    }
    for (int i = 0; i < n; i++) sum = sum * 0.999 + b[i] + wrapped[i] * 0.5 + scattered[i] * 0.25;
  }
  printf("%.15g\n", sum);
  return 0;
}
