// What threads read of each other's results is the same for a while, then something else, then irregular: what
// was predicted of it is wrong now and then.
#include <stdio.h>
#include <stdlib.h>

enum { N = 6000, ROUNDS = 120 };

static long distance_in(int round) {
  if (round < 30) return 1;
  if (round < 60) return round % 2 ? 700 : 3;
  if (round < 90) return round % 7 == 0 ? 2500 : 40;
  return (round * 7919L) % 1500;
}

static void step(double *restrict to, const double *from, long distance) {
#pragma omp parallel for
  for (long i = 2500; i < N - 2500; i++) to[i] = 0.5 * from[i] + 0.25 * (from[i - distance] + from[i + distance]);
}

static double inside(double *a, double *b, int rounds) {
  double total = 0;
#pragma omp parallel
  for (int round = 0; round < rounds; round++) {
    long distance = distance_in(round);
#pragma omp for
    for (long i = 2500; i < N - 2500; i++) b[i] = a[i] + 0.125 * a[i + distance];
#pragma omp for
    for (long i = 2500; i < N - 2500; i++) a[i] = 0.875 * b[i];
  }
  for (int i = 0; i < N; i++) total += a[i] * (i % 11);
  return total;
}

int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++) a[i] = b[i] = i * 37 % 101;
  for (int round = 0; round < ROUNDS; round++) {
    step(b, a, distance_in(round));
    double *swap = a;
    a = b;
    b = swap;
    if (round % 25 == 24) {
      a[round * 40] += 1000;
      printf("%d %.12g\n", round, a[N / 2]);
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++) sum += a[i] * (i % 13);
  printf("%.12g\n", sum);
  printf("%.12g\n", inside(a, b, ROUNDS));
  return 0;
}
