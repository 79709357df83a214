// What a program does where it finds its input wrong costs a region nothing, and does what it says: the text,
// the exit code, and a function registered for the exit finds what all threads wrote.
// threads: 2
// ranks: 2
// limit: 20
// expect-exit: 3
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };
static double *values, *doubled;

static double checked_root(int at) {
  if (values[at] < 0) {
    printf("value %d is %g: %s\n", at, values[at], "it has no root");
    fprintf(stderr, "giving up\n");
    exit(3);
  }
  return values[at] * 0.5;
}

static void report(void) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += doubled[i];
  printf("doubled: %g, first %g, last %g\n", sum, doubled[0], doubled[N - 1]);
}

int main(void) {
  values = malloc(N * sizeof *values);
  doubled = malloc(N * sizeof *doubled);
  atexit(report);
  for (int round = 0; round < 4; round++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      doubled[i] = 2 * i + round;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      values[i] = round == 3 && i == 7 ? -1 : i;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
      values[i] = checked_root(i);
  }
  return 0;
}
