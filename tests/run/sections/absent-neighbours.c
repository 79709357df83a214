// A mesh with numbers that say that an element has no neighbour: on the border, and nowhere else on some ranks. Elements
// are taken in blocks, the last of which is shorter.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { side = 90, n = side * side, steps = 6, block = 8, planes = 3 };

static int min(int a, int b) { return a < b ? a : b; }

// Elements side by side, the neighbours of each together; `none` where there is none.
static void link_all(int *near, int none, int from) {
  for (int e = 0; e < n; e++) {
    int x = e % side, y = e / side;
    near[4 * e] = x > 0 ? e - 1 + from : none;
    near[4 * e + 1] = x < side - 1 ? e + 1 + from : none;
    near[4 * e + 2] = y > 0 ? e - side + from : none;
    near[4 * e + 3] = y < side - 1 ? e + side + from : none;
  }
}

// In blocks, with planes of values.
static void flux(int count, const int *near, const double *value, double *sum) {
#pragma omp parallel for
  for (int b = 0; b < (count + block - 1) / block; b++)
    for (int e = b * block; e < min(count, (b + 1) * block); e++) {
      double all[planes] = {0};
      for (int k = 0; k < 4; k++) {
        int other = near[4 * e + k];
        if (other >= 0)
          for (int p = 0; p < planes; p++) all[p] += value[other + p * count];
        else if (other == -1)
          all[0] += 0.5;
        else
          all[1] += 0.25;
      }
      for (int p = 0; p < planes; p++) sum[e + p * count] = all[p];
    }
}

static void add(int count, double *value, const double *sum) {
#pragma omp parallel for
  for (int b = 0; b < count / block; b++) {
    int end = (b + 1) * block > count ? count : (b + 1) * block;
    for (int e = b * block; e < end; e++)
      for (int p = 0; p < planes; p++) value[e + p * count] = 0.2 * sum[e + p * count] + 0.1 * value[e + p * count];
  }
}

// Numbers from 1 on, and 0 for none.
static void from_one(int count, const int *near, const double *value, double *sum) {
#pragma omp parallel for
  for (int e = 0; e < count; e++) {
    double all = 0;
    for (int k = 0; k < 4; k++)
      if (near[4 * e + k] > 0) all += value[near[4 * e + k] - 1];
    sum[e] += all;
  }
}

// All but -1: others are negative, from the middle of the array.
static void from_the_middle(int count, const int *far, const double *middle, double *sum) {
#pragma omp parallel for
  for (int e = 0; e < count; e++)
    if (far[e] != -1) sum[e] += middle[far[e]];
}

// As numbers without a sign.
static void chained(int count, const unsigned *next, const double *value, double *sum) {
#pragma omp parallel for
  for (int e = 0; e < count; e++)
    if (next[e] != -1u) sum[e] -= value[next[e]];
}

int main(void) {
  int *near = malloc(4 * n * sizeof *near), *numbers = malloc(4 * n * sizeof *numbers), *far = malloc(n * sizeof *far);
  unsigned *next = malloc(n * sizeof *next);
  double *value = malloc(planes * n * sizeof *value), *sum = calloc(planes * n, sizeof *sum);
  link_all(near, -1, 0);
  link_all(numbers, 0, 1);
  near[0] = -2;
  for (int e = 0; e < n; e++) {
    // The first half has none.
    far[e] = e < n / 2 ? -1 : e % (n / 2) - n / 2 + (e % (n / 2) == n / 2 - 1);
    next[e] = e % 7 == 3 || e + 5 >= n ? -1u : (unsigned)e + 5;
  }
  for (int k = 0; k < planes * n; k++) value[k] = k % 101 * 0.01;
  for (int step = 0; step < steps; step++) {
    flux(n, near, value, sum);
    add(n, value, sum);
    from_one(n, numbers, value, sum);
    from_the_middle(n, far, value + n / 2, sum);
    chained(n, next, value, sum);
    add(n, value, sum);
    // The border moves.
    if (step == 3)
      for (int e = 0; e < n; e += 97) near[4 * e + step] = -1 - e % 2;
  }
  double total = 0;
  for (int k = 0; k < planes * n; k++) total = total * 0.999 + value[k] + sum[k];
  printf("%.12g\n", total);
}
