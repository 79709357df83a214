// ranks: 1 2 3 4
// opt: -O2
// flags: -lm
// compare: tolerance 1e-10
//
// Diffusion by three-dimensional Fourier transforms: kernel FT of the NAS
// parallel benchmarks, class S (64^3 points, six steps), written from its
// published description. The checksums are reductions, hence the tolerance.
#include "lcg46.h"

#include <math.h>
#include <stdio.h>

enum { SIDE = 64, LOG2_SIDE = 6, POINTS = SIDE * SIDE * SIDE, STEPS = 6 };
static const double alpha = 1e-6;
static const double pi = 3.141592653589793238;

struct complex {
  double re, im;
};

static const struct complex published[STEPS] = {
    {5.546087004964e2, 4.845363331978e2}, {5.546385409189e2, 4.865304269511e2},
    {5.546148406171e2, 4.883910722336e2}, {5.545423607415e2, 4.901273169046e2},
    {5.544255039624e2, 4.917475857993e2}, {5.542683411902e2, 4.932597244941e2},
};

static struct complex spectrum[SIDE][SIDE][SIDE], field[SIDE][SIDE][SIDE];
static struct complex root[SIDE];  // exp(2 pi i k / SIDE)

// Stockham's transform of one line: no bit reversal, line and scratch swap
// roles in every pass; LOG2_SIDE is even, so the result ends up in `line`.
static void transform_line(struct complex *line, struct complex *scratch, int sign) {
  for (int length = 1; length < SIDE; length *= 2) {
    for (int block = 0; block < SIDE / 2; block += length) {
      struct complex w = root[block];
      w.im *= sign;
      for (int i = block; i < block + length; i++) {
        struct complex a = line[i], b = line[i + SIDE / 2];
        struct complex d = {a.re - b.re, a.im - b.im};
        scratch[i + block] = (struct complex){a.re + b.re, a.im + b.im};
        scratch[i + block + length] =
            (struct complex){d.re * w.re - d.im * w.im, d.re * w.im + d.im * w.re};
      }
    }
    struct complex *other = line;
    line = scratch;
    scratch = other;
  }
}

static void transform(struct complex a[SIDE][SIDE][SIDE], int sign) {
  struct complex line[SIDE], scratch[SIDE];
#pragma omp parallel private(line, scratch)
  {
#pragma omp for collapse(2)
    for (int z = 0; z < SIDE; z++)
      for (int y = 0; y < SIDE; y++)
        transform_line(a[z][y], scratch, sign);
#pragma omp for collapse(2)
    for (int z = 0; z < SIDE; z++)
      for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++)
          line[y] = a[z][y][x];
        transform_line(line, scratch, sign);
        for (int y = 0; y < SIDE; y++)
          a[z][y][x] = line[y];
      }
#pragma omp for
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++) {
        for (int z = 0; z < SIDE; z++)
          line[z] = a[z][y][x];
        transform_line(line, scratch, sign);
        for (int z = 0; z < SIDE; z++)
          a[z][y][x] = line[z];
      }
  }
}

static void fill(void) {
#pragma omp parallel for schedule(guided)
  for (int z = 0; z < SIDE; z++) {
    uint64_t seed = lcg_jump(314159265, 2 * (uint64_t)SIDE * SIDE * z);
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++) {
        spectrum[z][y][x].re = lcg_next(&seed);
        spectrum[z][y][x].im = lcg_next(&seed);
      }
  }
}

static double frequency_squared(int k) {
  int signed_k = k < SIDE / 2 ? k : k - SIDE;
  return signed_k * signed_k;
}

// field = the spectrum after `step` steps of diffusion
static void evolve(int step) {
  double rate = -4 * alpha * pi * pi * step;
#pragma omp parallel for collapse(3)
  for (int z = 0; z < SIDE; z++)
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++) {
        double factor = exp(rate * (frequency_squared(x) + frequency_squared(y) +
                                    frequency_squared(z)));
        field[z][y][x].re = factor * spectrum[z][y][x].re;
        field[z][y][x].im = factor * spectrum[z][y][x].im;
      }
}

static struct complex checksum(void) {
  double re = 0, im = 0;
#pragma omp parallel for reduction(+ : re, im)
  for (int j = 1; j <= 1024; j++) {
    struct complex c = field[5 * j % SIDE][3 * j % SIDE][j % SIDE];
    re += c.re / POINTS;
    im += c.im / POINTS;
  }
  return (struct complex){re, im};
}

int main(void) {
  for (int k = 0; k < SIDE; k++)
    root[k] = (struct complex){cos(2 * pi * k / SIDE), sin(2 * pi * k / SIDE)};

  fill();
  transform(spectrum, -1);
  int right = 1;
  for (int step = 1; step <= STEPS; step++) {
    evolve(step);
    transform(field, 1);
    struct complex c = checksum(), expected = published[step - 1];
    printf("step %d: checksum %.12e %.12e\n", step, c.re, c.im);
    right &= hypot(c.re - expected.re, c.im - expected.im) <= 1e-11 * hypot(c.re, c.im);
  }
  printf("FT class S: verification %s\n", right ? "successful" : "failed");
  return !right;
}
