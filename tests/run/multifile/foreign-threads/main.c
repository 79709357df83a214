// A library that is not compiled with okl keeps pointers to what the ranks share, as a plan of an FFT does, and works on it
// with threads of its own, which it creates anew each time, or keeps. Their page faults are served like others.
// untranslated: library.c
#include <stdio.h>
#include <stdlib.h>

struct plan;
struct plan *make_plan(double *from, double *to, int n);
void execute(struct plan *);
void execute_again(struct plan *);
double checksum(void);
void end(struct plan *);

enum { N = 120000, STEPS = 4 };

int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++)
    a[i] = i % 10, b[i] = i % 3;
  struct plan *plan = make_plan(a, b, N);
  for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      a[i] = 0.5 * a[i] + b[N - 1 - i];
    execute(plan);
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      b[i] += 0.25 * a[(i * 7L) % N];
    execute_again(plan);
    printf("%.10g\n", checksum());
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < N; i++)
    sum += b[i] * (i % 5);
  printf("%.10g\n", sum);
  end(plan);
  free(a), free(b);
}
