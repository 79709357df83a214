// Functions of other files that regions call in loops that are described, and between them, whatever these do: what is
// taken for known has to be so, and all else is seen even so.
// opt: -O0 -O2
// threads: any
#include "functions.h"
#include <stdio.h>

double shared_values[N], other[N], third[N];
static double sums[16];

static void in_loops(int step) {
  // Known: they compute.
#pragma omp for
  for (int i = 0; i < N; i++)
    other[i] = curve(i + step) + fibonacci(i % 9) + even(i % 7);
  // A parameter leads to what the loop declares, or to a variable of the thread's own.
#pragma omp for
  for (int i = 0; i < N; i++) {
    double own = other[i];
    scale(&own);
    third[i] += own;
    scale(&third[i]);
  }
#pragma omp for
  for (int i = 0; i < N / 3; i++) {
    double in[3] = {third[i], other[i], 1}, out[3];
    turn(out, in);
    shared_values[3 * i] += out[0] + out[1] - out[2];
    turn(shared_values + 3 * i, in);
  }
  // Tables, large ones and small ones.
#pragma omp for
  for (int i = 0; i < N; i++)
    other[i] += table_at(i) + large_at(N - 1 - i);
  // They write what the loop does not mention.
#pragma omp for
  for (int i = 0; i < N; i++) {
    third[i] = third[i] * 0.5;
    change_large(i, third[i]);
  }
#pragma omp for
  for (int i = 0; i < N; i++)
    other[i] += log_of[N - 1 - i];
#pragma omp for
  for (int i = 0; i < SMALL; i++) {
    other[i] -= 1;
    change_weights(i, other[i]);
  }
#pragma omp for
  for (int i = 0; i < N; i++)
    third[i] += weights[(i + step) % SMALL];
#pragma omp for
  for (int i = 0; i < N; i++) {
    other[i] += 0.25;
    through_remembered(i);
  }
#pragma omp for
  for (int i = 0; i < N; i++) {
    poke((long)&third[i], third[i] + 0.5);
    other[i] += third[i];
  }
#pragma omp for
  for (int i = 0; i < N / 2; i++) {
    store_all(2, &third[2 * i], &other[2 * i + 1]);
    struct view view = {other, N};
    put(view, 2 * i, third[2 * i]);
    shared_values[i] += 1;
  }
#pragma omp for
  for (int i = 0; i < N; i++)
    other[i] = apply(choose(i % 2), other[i]);
  // Of two definitions the linker takes the one that writes.
#pragma omp for
  for (int i = 0; i < N; i++)
    other[i] += shape(third[i], i);
#pragma omp for
  for (int i = 0; i < N; i++)
    third[i] += changed_by[N - 1 - i];
#pragma omp for
  for (int i = 0; i < N; i++) {
    other[i] += 1;
    deep(3, i);
  }
}

int main(void) {
  for (int i = 0; i < N; i++)
    shared_values[i] = i % 13;
  remember(shared_values);
  struct node second = {other, NULL}, first = {third, &second};
  double total = 0, list = 0;
  double *kept = NULL;
#pragma omp parallel reduction(+ : total)
  for (int step = 0; step < 4; step++) {
    in_loops(step);
    // Between loops.
#pragma omp master
    sums[step] = next_random() + call_count();
#pragma omp single
    {
      list += sum_list(&first);
      kept = made(N);
    }
#pragma omp for
    for (int i = 0; i < N; i++)
      kept[i] = other[i] + i;
    fill(third, N, step);
#pragma omp for
    for (int i = 0; i < N; i++)
      third[i] += kept[N - 1 - i];
    double mine = private_sum(1);
    meet();
#pragma omp for
    for (int i = 0; i < N; i++) {
      other[i] += third[i];
      scale(&other[i]);
    }
    total += mine * 0;
  }
  // Locks and atomic accesses.
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) {
      other[i] *= 0.5;
      add_critical(i);
    }
#pragma omp for
    for (int i = 0; i < N; i++) {
      third[i] += other[i];
      add_atomic(i);
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.999 + other[i] - third[i] * 0.5 + shared_values[i] + log_of[i] + changed_by[i];
  for (int i = 0; i < SMALL; i++)
    sum += weights[i];
  for (int i = 0; i < 4; i++)
    sum += sums[i];
  printf("%.9g %.9g %.9g %d\n", sum, total, list, call_count());
}
