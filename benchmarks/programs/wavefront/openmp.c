// Symmetric Gauss-Seidel sweeps over a grid: each point needs new values from above and from the left, on the way back
// from below and from the right. Threads have blocks of rows and go through blocks of columns one after the other; a
// flag of each thread says how many of its blocks are done.
#include <omp.h>

#include "wave.h"

// Each flag has a line of cache to itself.
struct flag {
  int blocks;
  char padding[60];
};

static void wait_for(const struct flag *flag, int blocks) {
  int done;
  do {
#pragma omp flush
#pragma omp atomic read
    done = flag->blocks;
  } while (done < blocks);
#pragma omp flush
}

static void post(struct flag *flag, int blocks) {
#pragma omp flush
#pragma omp atomic write
  flag->blocks = blocks;
}

// There and back. The flags, one for each thread and direction, count on from sweep to sweep.
static void sweep(int n, int number, double *u, struct flag *forth, struct flag *back) {
  int line = n + 2, blocks = (n + WIDTH - 1) / WIDTH;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    int first = 1 + (int)((long)n * me / threads), last = (int)((long)n * (me + 1) / threads);
    for (int block = 0; block < blocks; block++) {
      int end = block_end(n, block);
      if (me > 0)
        wait_for(&forth[me - 1], number * blocks + block + 1);
      for (int i = first; i <= last; i++)
        for (int j = 1 + block * WIDTH; j <= end; j++)
          u[i * line + j] = relaxed(u, i * line + j, line);
      post(&forth[me], number * blocks + block + 1);
    }
#pragma omp barrier
    for (int block = blocks - 1; block >= 0; block--) {
      int end = block_end(n, block);
      if (me < threads - 1)
        wait_for(&back[me + 1], number * blocks + blocks - block);
      for (int i = last; i >= first; i--)
        for (int j = end; j >= 1 + block * WIDTH; j--)
          u[i * line + j] = relaxed(u, i * line + j, line);
      post(&back[me], number * blocks + blocks - block);
    }
  }
}

static double checksum(const double *u, int n) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += u[(i + 1) * (n + 2) + j + 1] * (1 + (i + 3 * j) % 7);
  }
  for (int i = 0; i < n; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 2000, 1);
  int iterations = number(argc, argv, 2, 20, 1);
  int line = n + 2;
  double *u = allocate((size_t)line * line, sizeof *u);
#pragma omp parallel for
  for (int i = 0; i < line; i++)
    for (int j = 0; j < line; j++)
      u[i * line + j] = initial(i, j);
  int threads = omp_get_max_threads();
  struct flag *forth = allocate(threads, sizeof *forth), *back = allocate(threads, sizeof *back);
  for (int thread = 0; thread < threads; thread++)
    forth[thread].blocks = back[thread].blocks = 0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    sweep(n, iteration, u, forth, back);
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(u, n));
  free(back);
  free(forth);
  free(u);
  return 0;
}
