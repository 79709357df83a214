// Stores to computed places, most of which lie in rows that the nest writes for sure anyway: what lies elsewhere, and at the end
// of the rows only in part, is marked.
#include <stdio.h>
#include <stdlib.h>

struct pair {
  double a, b;
};

enum { ROWS = 40, LENGTH = 96, BEHIND = ROWS * 8, RUN = 6 };

// Each row is filled in two ways, and then scaled as a whole.
static void fill(struct pair *cells, const int *place, const int *start, int round) {
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
    struct pair *row = cells + i * LENGTH;
    for (int j = 0; j < LENGTH; j++) {
      cells[place[i * LENGTH + j]].a = i + j * round;
      cells[place[i * LENGTH + j]].b = i * j - round;
    }
    for (int part = 0; part < LENGTH / RUN; part++) {
      struct pair *to = cells + start[i * (LENGTH / RUN) + part];
      for (int k = 0; k < RUN; k++) {
        to[k].a += part + round;
        to[k].b -= k + i;
      }
    }
    for (int j = 0; j < LENGTH; j++) {
      row[j].a *= 0.5;
      row[j].b *= 0.25;
    }
  }
}

// By other threads than those that wrote it.
static double sum(const struct pair *cells, double *sums) {
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
    const struct pair *row = cells + (ROWS - 1 - i) * LENGTH;
    sums[i] = 0;
    for (int j = 0; j < LENGTH; j++) sums[i] += row[j].a * (1 + j % 5) + row[j].b * (1 + j % 3);
    const struct pair *behind = cells + ROWS * LENGTH + (ROWS - 1 - i) * 8;
    for (int j = 0; j < 8; j++) sums[i] += behind[j].a * (2 + j) + behind[j].b;
  }
  double all = 0;
  for (int i = 0; i < ROWS; i++) all += sums[i] * (1 + i % 7);
  return all;
}

int main(void) {
  struct pair *cells = malloc((ROWS * LENGTH + BEHIND) * sizeof *cells);
  int *place = malloc(ROWS * LENGTH * sizeof *place), *start = malloc(ROWS * (LENGTH / RUN) * sizeof *start);
  double *sums = malloc(ROWS * sizeof *sums);
#pragma omp parallel for
  for (int i = 0; i < ROWS * LENGTH + BEHIND; i++) cells[i] = (struct pair){i % 11, i % 13};
  for (int i = 0; i < ROWS; i++) {
    // Some places are behind all rows, two of each row.
    for (int j = 0; j < LENGTH; j++) place[i * LENGTH + j] = i * LENGTH + (j * 5 + i) % LENGTH;
    place[i * LENGTH + 7] = ROWS * LENGTH + i * 8 + 6;
    place[i * LENGTH + 8] = ROWS * LENGTH + i * 8 + 7;
    for (int part = 0; part < LENGTH / RUN; part++)
      start[i * (LENGTH / RUN) + part] = i * LENGTH + part * RUN;
  }
  // The last row's last run begins in the row and ends behind all; others lie behind it wholly, none reaches into another.
  start[ROWS * (LENGTH / RUN) - 1] = ROWS * LENGTH - 2;
  for (int i = 1; i < ROWS; i += 3) start[i * (LENGTH / RUN) + 2] = ROWS * LENGTH + i * 8;
  for (int round = 0; round < 6; round++) {
    fill(cells, place, start, round);
    printf("%.6f\n", sum(cells, sums));
  }
  free(sums);
  free(start);
  free(place);
  free(cells);
  return 0;
}
