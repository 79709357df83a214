// Assignments of structures beside fields behind pointers: of other types, of the same, and in functions that loops call.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct complex {
  double re, im;
};
struct plan {
  struct complex *to, *from;
  int *order;
  long n;
};
struct link {
  struct complex *to;
  long n;
};
enum { ROWS = 37, N = 53 };

__attribute__((noinline)) static void shuffle(const struct plan *plan, struct complex *line) {
  for (long i = 0; i < plan->n; i++)
    if (i < plan->order[i]) {
      struct complex swap = line[i];
      line[i] = line[plan->order[i]];
      line[plan->order[i]] = swap;
    }
}

__attribute__((noinline)) static void turn_over(const struct plan *plan, int rows) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++)
    for (long i = 0; i < plan->n; i++)
      plan->to[r * plan->n + i] = plan->from[r * plan->n + plan->n - 1 - i];
}

__attribute__((noinline)) static void shuffle_rows(const struct plan *plan, int rows) {
#pragma omp parallel
  {
    struct complex buffer[N];
#pragma omp for
    for (int r = 0; r < rows; r++) {
      for (long i = 0; i < plan->n; i++) buffer[i] = plan->to[r * plan->n + i];
      shuffle(plan, buffer);
      for (long i = 0; i < plan->n; i++) plan->from[r * plan->n + i] = buffer[i];
    }
  }
}

// Each row has a link of its own, which is assigned before it is used.
__attribute__((noinline)) static void through_links(struct link *links, const struct link *from, int rows) {
#pragma omp parallel for schedule(static, 3)
  for (int r = 0; r < rows; r++) {
    links[r] = from[rows - 1 - r];
    for (long i = 0; i < links[r].n; i++) links[r].to[i].re += r;
  }
}

int main(void) {
  struct plan plan = {malloc(ROWS * N * sizeof(struct complex)), malloc(ROWS * N * sizeof(struct complex)),
                      malloc(N * sizeof(int)), N};
  for (int i = 0; i < N; i++) plan.order[i] = (i * 7) % N;
  for (int i = 0; i < ROWS * N; i++) plan.from[i] = (struct complex){i % 19, i % 11};
  for (int step = 0; step < 4; step++) {
    turn_over(&plan, ROWS);
    shuffle_rows(&plan, ROWS);
  }
  struct link *links = calloc(ROWS, sizeof *links), *from = malloc(ROWS * sizeof *from);
  for (int r = 0; r < ROWS; r++) from[r] = (struct link){plan.to + (r * 5 % ROWS) * N, r % 7};
  through_links(links, from, ROWS);
  double sum = 0;
  for (int i = 0; i < ROWS * N; i++)
    sum += plan.to[i].re * (1 + i % 13) + plan.from[i].im * (1 + i % 17) + plan.from[i].re;
  for (int r = 0; r < ROWS; r++) sum += links[r].n;
  printf("%.17g\n", sum);
}
