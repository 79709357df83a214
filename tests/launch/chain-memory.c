// What threads keep for temporary spaces of loop chains: a chain runs as it is written where there is no memory for a buffer,
// and what a thread has kept goes when it ends.
// RUN: %okl-cc --okl-target=cpu -O2 -fopenmp %s -o %t -pthread
// RUN: %t | FileCheck %s
// CHECK: in a buffer, right
// CHECK-NEXT: threads: 64 in buffers, 64 right
// CHECK-NEXT: as it is written, right
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROW = 200000, ROWS = 6 };
static double (*b)[ROW];

// Four rows are 6.4 MB.
__attribute__((noinline)) static void chain(double (*a)[ROW], double (*c)[ROW], int n, int m) {
#pragma omplc loopchain schedule(fuse((0, 0), (1, 0))) local(a)
  {
#pragma omplc for domain(0 : n - 1, 0 : m - 1) with(i, j) write a{(i, j)}, read b{(i, j)}
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[i][j] = b[i][j] * 2;
#pragma omplc for domain(1 : n - 2, 0 : m - 1) with(i, j) read a{(i - 1, j), (i, j), (i + 1, j)}, write c{(i, j)}
    for (int i = 1; i < n - 1; i++)
      for (int j = 0; j < m; j++)
        c[i][j] = a[i - 1][j] + a[i][j] * a[i + 1][j];
  }
}

struct result {
  int columns, is_kept, is_right;
};

// Rows end where columns do.
static void look(struct result *told, double (*a)[ROW], double (*c)[ROW]) {
  chain(a, c, ROWS, told->columns);
  told->is_kept = told->is_right = 1;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < told->columns; j++)
      told->is_kept &= a[i][j] == 0;
  for (int i = 1; i < ROWS - 1; i++)
    for (int j = 0; j < told->columns; j++)
      told->is_right &= c[i][j] == b[i - 1][j] * 2 + b[i][j] * 2 * (b[i + 1][j] * 2);
}

static void tell(struct result told) {
  printf("%s, %s\n", told.is_kept ? "in a buffer" : "as it is written", told.is_right ? "right" : "wrong");
}

static void *run(void *result) {
  double(*a)[ROW] = calloc(ROWS, sizeof *a), (*c)[ROW] = calloc(ROWS, sizeof *c);
  look(result, a, c);
  free(a);
  free(c);
  return 0;
}

static void leave(long more) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1)
    exit(1);
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * 4096 + more;
  setrlimit(RLIMIT_AS, &limit);
}

int main(void) {
  b = malloc(ROWS * sizeof *b);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROW; j++)
      b[i][j] = 1 + (i * 7 + j) % 13;
  double(*a)[ROW] = calloc(ROWS, sizeof *a), (*c)[ROW] = calloc(ROWS, sizeof *c);
  struct result told = {.columns = ROW / 4};
  look(&told, a, c);
  tell(told);
  // For the arrays of one thread, and for what some have kept.
  leave(100L << 20);
  told.columns = ROW;
  int kept = 0, right = 0;
  for (int at = 0; at < 64; at++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, run, &told))
      return 1;
    pthread_join(thread, 0);
    kept += told.is_kept;
    right += told.is_right;
  }
  printf("threads: %d in buffers, %d right\n", kept, right);
  // This thread has kept less than it needs.
  leave(0);
  look(&told, a, c);
  tell(told);
  return 0;
}
