// Pipelines by flags between loop nests whose accesses are known: what a nest wrote before a flag was set is read behind the
// wait, by the next thread and by those behind it, where blocks meet in a page, where another thread wrote the same before,
// and again and again.
// threads: any
// limit: 60
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

enum { ROWS = 19, COLUMNS = 333, STEPS = 5, PLANES = 4 };
static double grid[PLANES][ROWS + 2][COLUMNS], scale[ROWS + 2][COLUMNS];
static double first[COLUMNS], all[64][40];
static int down[ROWS + 2], up[ROWS + 2], said[64];

static void forth(int plane) {
#pragma omp for schedule(static) nowait
  for (int row = 1; row <= ROWS; row++)
    for (int i = 0; i < COLUMNS; i++)
      scale[row][i] = 0.25 + (row * 3 + i + plane) % 7 * 0.01;
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
    for (int i = 1; i < COLUMNS; i++)
      grid[plane][row][i] = grid[plane][row][i] * 0.5 + scale[row][i] * (grid[plane][row - 1][i] + grid[plane][row][i - 1]);
    if (row < ROWS)
      down[row] = 1;
    if (row > 1)
      down[row - 1] = 0;
  }
}

// The same rows by other threads, from below; some of their elements.
static void back(int plane) {
#pragma omp for schedule(static) nowait
  for (int row = ROWS; row >= 1; row--) {
    if (row < ROWS)
      while (up[row + 1] == 0) {
#pragma omp flush
      }
    if (row > 1)
      while (up[row] == 1) {
#pragma omp flush
      }
    for (int i = 0; i < COLUMNS - 1; i++)
      if (scale[row][i] > 0.28)
        grid[plane][row][i] -= 0.125 * (grid[plane][row + 1][i] + grid[plane][row][i + 1]);
    if (row > 1)
      up[row] = 1;
    if (row < ROWS)
      up[row + 1] = 0;
  }
}

int main(void) {
  double sum = 0;
  int wrong = 0;
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        grid[plane][row][i] = (plane + row * 5 + i * 3) % 11;
#pragma omp parallel
  for (int step = 0; step < STEPS; step++) {
    for (int plane = 0; plane < PLANES; plane++)
      forth(plane);
#pragma omp barrier
    for (int plane = PLANES - 1; plane >= 0; plane--)
      back(plane);
#pragma omp barrier
  }
  // What the first thread wrote reaches the last one by way of all others; all write the same line, one after the other.
#pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int round = 1; round <= STEPS; round++) {
      if (me > 0)
        while (said[me - 1] != round) {
#pragma omp flush
        }
      if (me == 0)
        for (int i = 0; i < COLUMNS; i++)
          first[i] = i + round;
      else
        for (int i = 0; i < COLUMNS; i++)
          wrong += first[i] != i + round;
      for (int i = 0; i < 40; i++)
        all[0][i] += me + 1;
      for (int i = 0; i < 40; i++)
        all[me][i] += i;
      said[me] = round;
      if (me == team - 1)
        for (int i = 0; i < 40; i++)
          wrong += all[0][i] != round * (team * (team + 1) / 2.0 + i);
#pragma omp barrier
    }
  }
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        sum += grid[plane][row][i] * (1 + (plane + row + i) % 5);
  printf("%.12g %d\n", sum, wrong);
}
