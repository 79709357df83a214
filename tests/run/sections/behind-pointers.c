// Fields behind pointers that not every turn of a loop comes to, and some loops never: behind null, behind what is no
// pointer, behind the end of what is mapped, in the C library's memory, in a string, behind pointers that change between
// loops, on the stack, and where threads other than the writer read them.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct part {
  double *data;
  struct part *next;
  int n;
  char name[12];
};
struct whole {
  struct part *first, *second;
  int *counts;
};
enum { N = 700 };

// Behind the pointers only where a count is positive.
__attribute__((noinline)) static void add(struct whole *w, int cells, int wide) {
#pragma omp parallel for
  for (int c = 0; c < cells; c++)
    for (int i = 0; i < w->counts[c]; i++) {
      w->first->data[c * wide + i] += w->first->next->data[c * wide + i] + 1;
      w->second->data[c * wide + i] = w->first->n + i;
    }
}

// Pointers that are changed in the loop by the only turn that uses them.
__attribute__((noinline)) static void change(struct whole *w, int n, double *other) {
#pragma omp parallel for
  for (int c = 0; c < n; c++)
    for (int i = 0; i < w->counts[c]; i++) {
      if (c == 1 && i == 1) w->second->data = other;
      if (c == 1) w->second->data[i] = c + i;
    }
}

// In one region: what one loop leaves, the next one finds.
__attribute__((noinline)) static void twice(struct whole *w, int n, double *other) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < w->first->n; k++) w->first->data[i] += k;
#pragma omp single
    w->first->data = other;
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < w->first->n; k++) w->first->data[i] += 3 * k;
  }
}

// What is no pointer, where no turn needs it.
__attribute__((noinline)) static double no_pointers(struct whole *w, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int c = 0; c < n; c++)
    for (int i = 0; i < w->counts[c]; i++) sum += w->second->next->data[i] + w->second->next->n;
  return sum;
}

// The C library's own memory.
__attribute__((noinline)) static long days(struct tm *const *when, int n, const int *counts) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int c = 0; c < n; c++)
    for (int i = 0; i < counts[c]; i++) sum += (*when)->tm_mday + (*when)->tm_zone[0];
  return sum;
}

static double sum_of(const double *data) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += data[i] * (1 + i % 7);
  return sum;
}

int main(void) {
  double *data[4];
  for (int k = 0; k < 4; k++) {
    data[k] = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++) data[k][i] = k + i % 5;
  }
  struct part third = {data[2], NULL, 2, "third"}, *second = malloc(sizeof *second);
  struct part first = {data[0], &third, 4, "first"};
  *second = (struct part){data[1], second, 3, "second"};
  int counts[10] = {3, 0, 5, 7, 0, 0, 1, 2, 4, 6}, none[10] = {0};
  struct whole w = {&first, second, counts};
  add(&w, 10, 7);
  printf("%g %g %g\n", sum_of(data[0]), sum_of(data[1]), sum_of(data[2]));
  counts[1] = 3;
  change(&w, 3, data[3]);
  printf("%g %g %d\n", sum_of(data[1]), sum_of(data[3]), second->data == data[3]);
  twice(&w, N, data[1]);
  printf("%g %g\n", sum_of(data[0]), sum_of(data[1]));

  // Nothing behind them.
  struct whole empty = {NULL, NULL, none};
  add(&empty, 10, 7);
  printf("%g\n", no_pointers(&empty, 10));
  unsigned long wrong[] = {1, 8, 4096, 0x7fffffffffffUL, 0x8000000000000000UL, ~0UL, ~7UL};
  for (int k = 0; k < 7; k++) {
    struct part odd = {(double *)wrong[k], (struct part *)wrong[k], 1 << 30, "odd"};
    empty = (struct whole){(struct part *)wrong[k], &odd, none};
    add(&empty, 10, 7);
    printf("%g\n", no_pointers(&empty, 10));
  }
  // Numbers in place of pointers, which are addresses of something else.
  struct part odd = {data[3] + N - 1, (struct part *)(data[2] + 1), 1 << 30, "odd"};
  empty = (struct whole){(struct part *)data[1], &odd, none};
  add(&empty, 10, 7);
  printf("%g %g\n", no_pointers(&empty, 10), sum_of(data[3]));

  time_t zero = 86400 * 5;
  struct tm *when = gmtime(&zero);
  printf("%d\n", when->tm_mday);
  struct tm copy = *when, *mine = &copy;
  copy.tm_zone = "GMT";
  printf("%ld\n", days((struct tm *const *)&mine, 10, counts));
  free(second);
  for (int k = 0; k < 4; k++) free(data[k]);
}
