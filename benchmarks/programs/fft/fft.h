// A fast Fourier transform of one line of 2^k complex numbers, in place.
#ifndef FFT_H
#define FFT_H

#include <math.h>

#include "../common.h"

struct complex {
  double re, im;
};

// Tables for lines of one length.
struct transform {
  int n;
  int *reversed;         // the index with its bits in reverse order
  struct complex *root;  // exp(-2 pi i k / n)
};

static struct transform new_transform(int n) {
  struct transform t = {n, allocate(n, sizeof *t.reversed), allocate(n / 2, sizeof *t.root)};
  for (int i = 0; i < n; i++) {
    t.reversed[i] = 0;
    for (int bit = 1, mirror = n / 2; bit < n; bit *= 2, mirror /= 2)
      if (i & bit)
        t.reversed[i] |= mirror;
  }
  for (int k = 0; k < n / 2; k++) {
    double angle = -2 * 3.14159265358979323846 * k / n;
    t.root[k] = (struct complex){cos(angle), sin(angle)};
  }
  return t;
}

static void free_transform(struct transform *t) {
  free(t->root);
  free(t->reversed);
}

// Scaled by 1 / sqrt(n), so that four times over is the identity.
static void transform_line(const struct transform *t, struct complex *line) {
  int n = t->n;
  const int *reversed = t->reversed;
  const struct complex *root = t->root;
  for (int i = 0; i < n; i++)
    if (i < reversed[i]) {
      struct complex swap = line[i];
      line[i] = line[reversed[i]];
      line[reversed[i]] = swap;
    }
  for (int half = 1; half < n; half *= 2)
    for (int block = 0; block < n; block += 2 * half)
      for (int k = 0; k < half; k++) {
        struct complex w = root[k * (n / 2 / half)];
        struct complex a = line[block + k], b = line[block + half + k];
        struct complex wb = {w.re * b.re - w.im * b.im, w.re * b.im + w.im * b.re};
        line[block + k] = (struct complex){a.re + wb.re, a.im + wb.im};
        line[block + half + k] = (struct complex){a.re - wb.re, a.im - wb.im};
      }
  double scale = 1 / sqrt(n);
  for (int i = 0; i < n; i++) {
    line[i].re *= scale;
    line[i].im *= scale;
  }
}

// A length that is a power of two, or the end of the program.
static int line_length(int argc, char **argv, int position, int otherwise) {
  int n = number(argc, argv, position, otherwise, 2);
  if (n & (n - 1)) {
    fprintf(stderr, "%s: %d is not a power of two\n", argv[0], n);
    exit(2);
  }
  return n;
}

#endif
