// Reads of a few elements, all over large arrays that all threads write between, at places that are computed from the number of
// the turn: by remainders, masks, shifts, quotients, minima, of indices of several types, forwards and backwards, in chunks,
// behind conditions, of fields, and of so many that all is copied.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 16, ROWS = 64, LENGTH = N / ROWS };

struct pair {
  double x;
  short n;
};

static double a[N], rows[ROWS][LENGTH];
static struct pair pairs[N];

static void change(double *heap, int step) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    a[i] = a[i] * 0.5 + i % 13 + step;
    heap[i] = i % 17 - step;
    pairs[i].x = i % 5 + step;
    pairs[i].n = (i + step) % 101;
  }
  // Other shares than above.
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < LENGTH; j++) rows[i][j] = i * 3 + j % 7 + step;
}

static double read_some(const double *heap, int n, unsigned seed, long shift) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int j = 1; j <= n; j++) sum += rows[5 * j % ROWS][3 * j % LENGTH];
#pragma omp parallel for reduction(+ : sum)
  for (unsigned i = seed; i < seed + n; i++) sum += a[(i * 2654435761u) >> 16];
#pragma omp parallel for reduction(+ : sum)
  for (long i = n; i > 0; i -= 3) sum += heap[(i * i + shift) & (N - 1)];
#pragma omp parallel for reduction(+ : sum) schedule(static, 7)
  for (int i = -n; i < n; i++) sum += a[N / 2 + (i * 977) % (N / 2)];
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    int at = i * 4099 < N ? i * 4099 : N - 1 - i;
    if (i % 3) sum += pairs[at].x + pairs[at].n;
  }
#pragma omp parallel for reduction(+ : sum)
  for (short i = 0; i < (short)n; i++) sum += heap[(unsigned char)(i * 37) * 256 + i / 3 % 5];
  // Whatever it would read where it does not.
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) {
    long at = (i * i * i * 1000003) ^ shift;
    if (at >= 0 && at < N) sum += a[at];
  }
  return sum;
}

int main(void) {
  double *heap = malloc(N * sizeof *heap), sum = 0;
  for (int step = 0; step < 3; step++) {
    change(heap, step);
    sum = sum * 0.25 + read_some(heap, 90 + step % 2, step * 7, step);
  }
  sum = sum * 0.25 + read_some(heap, 3000, 1, 1);
  printf("%.3f\n", sum);
  // Written where it was read.
  for (int step = 0; step < 2; step++) {
#pragma omp parallel for
    for (int i = 0; i < 60; i++) heap[i * 8190 % N] = heap[(i * 5003 + step) % N | 1] + i;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 60; i++) sum += heap[i * 8190 % N];
  }
  printf("%.3f\n", sum);
  free(heap);
  return 0;
}
