// A function of the program that has the name of one of the C library's that pause may be what a loop waits for.
// warns: waits for a flag that another thread sets
#include <stdio.h>

static volatile int ready;
static int turns;

static int usleep(unsigned turn) {
  turns += turn;
  ready = turns == 3000000;
  return 0;
}

int main(void) {
#pragma omp parallel num_threads(1)
  while (!ready)
    usleep(1);
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += i;
  printf("%d %d\n", turns, sum);
  return 0;
}
