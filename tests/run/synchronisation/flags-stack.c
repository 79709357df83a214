// Pipelines by flags over an array on the stack of serial code: what several threads wrote there is read by others behind the
// wait, and by serial code behind the region, which then has other things in its place.
// threads: any
// limit: 60
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <stdio.h>

enum { ROWS = 21, COLUMNS = 401, STEPS = 5 };
static double grid[ROWS + 2][COLUMNS];
static int down[ROWS + 2];

static double sweep(int seed) {
  double scratch[ROWS + 2][COLUMNS], sum = 0;
  int small = seed;
  for (int i = 0; i < COLUMNS; i++)
    scratch[0][i] = i % 5;
#pragma omp parallel
  for (int step = 0; step < STEPS; step++) {
#pragma omp for schedule(static) nowait
    for (int row = 1; row <= ROWS; row++)
      for (int i = 0; i < COLUMNS; i++)
        scratch[row][i] = grid[row][i] + small;
#pragma omp for schedule(static) nowait
    for (int row = 1; row <= ROWS; row++) {
      if (row > 1)
        while (down[row - 1] == 0) {
#pragma omp flush
        }
      if (row < ROWS)
        while (down[row] == 1) {
#pragma omp flush
        }
      for (int i = 1; i < COLUMNS; i++) {
        scratch[row][i] = scratch[row][i] * 0.5 + 0.25 * (scratch[row - 1][i] + scratch[row][i - 1]);
        grid[row][i] = grid[row][i] * 0.75 + 0.25 * scratch[row][i];
      }
      if (row < ROWS)
        down[row] = 1;
      if (row > 1)
        down[row - 1] = 0;
    }
#pragma omp barrier
    // Others have written what a thread does here, and will.
#pragma omp for schedule(static, 1)
    for (int row = 1; row <= ROWS; row++)
      for (int i = 0; i < COLUMNS; i++)
        grid[row][i] += 0.125 * scratch[ROWS + 1 - row][i];
  }
  for (int row = 0; row <= ROWS; row++)
    for (int i = 0; i < COLUMNS; i++)
      sum += (row + 1) * scratch[row][i];
  return sum;
}

// Its frame is where the array was.
static double other(int seed) {
  volatile double numbers[ROWS * COLUMNS];
  double sum = 0;
  for (int i = 0; i < ROWS * COLUMNS; i++)
    numbers[i] = seed + i % 13;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < ROWS * COLUMNS; i++)
    sum += numbers[i];
  return sum;
}

int main(void) {
  double sum = 0;
  for (int row = 0; row < ROWS + 2; row++)
    for (int i = 0; i < COLUMNS; i++)
      grid[row][i] = (row * 7 + i * 3) % 11;
  for (int turn = 0; turn < 3; turn++) {
    sum += sweep(turn);
    sum += other(turn);
  }
  for (int row = 0; row < ROWS + 2; row++)
    for (int i = 0; i < COLUMNS; i++)
      sum += (row + i) * grid[row][i];
  printf("%.6f\n", sum);
  return 0;
}
