// A region that is entered again and again, and waits for flags that count on: there, and behind a barrier back. On several nodes
// the ranks run it, or rank 0 does, or they take turns; serial code changes a row and a flag in between.
// threads: any
// limit: 60
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

enum { ROWS = 37, COLUMNS = 700, WIDTH = 100, SWEEPS = 12, BLOCKS = COLUMNS / WIDTH, MOST = 64 };
static double grid[ROWS + 2][COLUMNS + 2];
static int forth[MOST], back[MOST], base;

static void sweep(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), threads = omp_get_num_threads(), start = base;
    const int first = 1 + ROWS * me / threads, last = ROWS * (me + 1) / threads;
    for (int block = 0; block < BLOCKS; block++) {
      const int wanted = start + block + 1;
      if (me > 0)
        while (forth[me - 1] < wanted) {
#pragma omp flush
        }
      for (int i = first; i <= last; i++)
        for (int j = 1 + block * WIDTH; j <= (block + 1) * WIDTH; j++)
          grid[i][j] = 0.1 * grid[i][j] + 0.2 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
      forth[me] = wanted;
    }
#pragma omp barrier
    for (int block = BLOCKS - 1; block >= 0; block--) {
      const int wanted = start + BLOCKS - block;
      if (me < threads - 1)
        while (back[me + 1] < wanted) {
#pragma omp flush
        }
      for (int i = last; i >= first; i--)
        for (int j = (block + 1) * WIDTH; j >= 1 + block * WIDTH; j--)
          grid[i][j] = 0.1 * grid[i][j] + 0.2 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
      back[me] = wanted;
    }
  }
}

int main(void) {
  for (int i = 0; i < ROWS + 2; i++)
    for (int j = 0; j < COLUMNS + 2; j++)
      grid[i][j] = (i * 7 + j * 13) % 101;
  for (int number = 0; number < SWEEPS; number++) {
    sweep();
    base += BLOCKS;
    if (number == 5) {
      // The flags begin anew, and a row is another one.
      base = 0;
      for (int thread = 0; thread < MOST; thread++)
        forth[thread] = back[thread] = 0;
      for (int j = 1; j <= COLUMNS; j++)
        grid[ROWS / 2][j] += j % 5;
    }
    double sum = 0;
    for (int i = 0; i < ROWS + 2; i++)
      for (int j = 0; j < COLUMNS + 2; j++)
        sum += grid[i][j] * ((i + j) % 7);
    printf("%d %.9g\n", number, sum);
  }
}
