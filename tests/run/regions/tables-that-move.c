// Each region writes what another thread has written in the one before, behind pointers that it finds in tables; serial code
// looks at some of it, and frees and allocates a table now and then. Ranks run these regions as rank 0 does by itself.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TIMES
#define TIMES 60
#define LENGTH 512
#endif

enum { TABLES = 48 };

struct part {
  long *values;
  int *order;
};

static struct part **parts;

static struct part *make(int number) {
  struct part *part = malloc(sizeof *part);
  part->values = calloc(LENGTH, sizeof *part->values);
  part->order = malloc(LENGTH * sizeof *part->order);
  for (int i = 0; i < LENGTH; i++) part->order[i] = (i * 37 + number) % LENGTH;
  return part;
}

int main(void) {
  int team = 0, wrong = 0;
  parts = malloc(TABLES * sizeof *parts);
  for (int t = 0; t < TABLES; t++) parts[t] = make(t);
  for (int time = 0; time < TIMES; time++) {
    int shift = time % TABLES;
#pragma omp parallel for
    for (int t = 0; t < TABLES; t++) {
      struct part *part = parts[(t + shift) % TABLES];
      for (int i = 0; i < LENGTH; i++) part->values[part->order[i]] += t + i;
      if (t == 0) team = omp_get_num_threads();
    }
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < TABLES; t++) {
      struct part *part = parts[t];
      for (int i = 0; i < LENGTH; i++) part->values[part->order[i]] -= (t - shift + TABLES) % TABLES + i;
    }
    for (int t = 0; t < TABLES; t += 5) wrong += parts[t]->values[time % LENGTH] != 0;
    if (time % 25 == 24) {
      struct part *old = parts[shift];
      parts[shift] = make(shift);
      free(old->values);
      free(old->order);
      free(old);
    }
  }
  for (int t = 0; t < TABLES; t++)
    for (int i = 0; i < LENGTH; i++) wrong += parts[t]->values[i] != 0;
  printf("%d wrong, %s\n", wrong, team == omp_get_max_threads() ? "all threads" : "too few threads");
}
