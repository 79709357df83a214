// Loops call functions that are not inlined: some write what they are handed, some change pointers and bounds that the
// loops use, and loops follow each other under conditions.
#include <stdio.h>
#include <stdlib.h>

enum { n = 120, m = 37, rounds = 6 };

static double (*block)[4], (*other)[4];
static double *cursor;
static int extent[2], offset;

__attribute__((noinline)) static void invert(double *to, const double *from) {
  for (int k = 0; k < 4; k++) to[k] = 1 / (1 + to[k] * to[k]) + from[3 - k];
}

// Later elements go to another place.
__attribute__((noinline)) static void put(double value) {
  cursor[offset] += value;
  if (value > 3) cursor += 2;
}

static void sweep(int columns) {
#pragma omp for
  for (int i = 0; i < extent[0]; i++) {
    double sums[m + 1];
    for (int j = 0; j < columns; j++) sums[j] = block[i * m + j][0] + other[i * m + j][1];
    for (int j = 0; j < columns - 1; j++) {
      other[i * m + j][2] = sums[j] + sums[j + 1];
      other[i * m + j][3] -= 1;
    }
    for (int j = 0; j < columns - 1; j++) other[i * m + j][3] += sums[j] * 0.5;
  }
}

int main(int argc, char **argv) {
  extent[0] = n;
  extent[1] = m;
  if (argc > 5) sscanf(argv[5], "%d%d", &extent[0], &extent[1]);
  block = calloc(n * m, sizeof *block);
  other = calloc(n * m, sizeof *other);
  double *places = calloc(8 * n, sizeof *places);
  for (int i = 0; i < n * m; i++)
    for (int k = 0; k < 4; k++) block[i][k] = (i * 7 + k) % 11;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < extent[0]; i++)
        for (int j = 0; j < extent[1]; j++) invert(block[i * m + j], other[i * m + j]);
      sweep(round == 3 ? 0 : round == 4 ? 1 : m);
#pragma omp single
      {
        cursor = places;
        for (int i = 0; i < n; i++) put(block[i * m + round][1] + i % 5);
      }
#pragma omp for
      for (int i = 0; i < extent[0]; i++) {
        for (int j = 0; j < extent[1]; j++) block[i * m + j][2] += places[i] * 0.125 + other[i * m + j][3];
      }
#pragma omp single
      offset = (offset + 1) % 3;
    }
    double sum = 0;
    for (int i = 0; i < n * m; i++)
      for (int k = 0; k < 4; k++) sum += block[i][k] * (k + 1) + other[i][k];
    for (int i = 0; i < 8 * n; i++) sum += places[i];
    printf("%d %.12g\n", round, sum);
  }
}
