// A pointer to the end of a global array, which is the next one's start, with indices that count backwards from it,
// in reads and in stores; and a table whose numbers overlap.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, SUMS = 64 };
static double a[N], b[N], sums[SUMS];
static int order[N];
double *end;

static double total(void) {
  double all = 0;
  for (int i = 0; i < SUMS; i++) all += sums[i];
  return all;
}

static void backwards(void) {
  for (int i = 0; i < N; i++) order[i] = i * 7919L % N;
  for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = i + turn, b[i] = -i;
#pragma omp parallel for
    for (int i = 0; i < SUMS; i++) {
      double sum = 0;
      for (int j = 0; j < 100; j++) sum += end[-1 - order[i * 100 + j]];
      sums[i] = sum;
    }
    printf("%.10g\n", total());
#pragma omp parallel for
    for (int i = 0; i < N; i++) end[-1 - order[i]] = i * 2 + turn;
    double sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * (i % 13) + b[i];
    printf("%.10g\n", sum);
  }
}

static void overlapping(int n) {
  double *x = malloc(n * sizeof *x);
  unsigned short *w = malloc(n * sizeof *w);
  for (int i = 0; i < n; i++) w[i] = i % 2 ? 0 : i % 7 % 3;
  for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) x[i] = i + turn;
#pragma omp parallel for
    for (int i = 0; i < SUMS; i++) {
      double sum = 0;
      for (int j = 0; j < 100; j++) {
        int at;
        memcpy(&at, w + i * 100 + j, sizeof at);
        sum += x[at];
      }
      sums[i] = sum;
    }
    printf("%.10g\n", total());
  }
  free(x);
  free(w);
}

int main(int count, char **arguments) {
  end = a + N * (long)count / count;
  backwards();
  overlapping(200000);
  return 0;
}
