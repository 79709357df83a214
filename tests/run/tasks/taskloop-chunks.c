// A taskloop has as many tasks as its clauses say: each has its own firstprivate copies.
// threads: any
#include <stdio.h>

static int position[100];

static int spread(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 7 + position[i];
  return sum;
}

int main(void) {
  int number = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(1) firstprivate(number)
    for (int i = 0; i < 100; i++) position[i] = number++;
    printf("one iteration each: %d\n", spread(100));
#pragma omp taskloop num_tasks(100) firstprivate(number)
    for (int i = 99; i >= 0; i--) position[i] = number++;
    printf("one iteration each, downwards: %d\n", spread(100));
#pragma omp taskloop grainsize(strict : 7) firstprivate(number)
    for (long i = 0; i < 100; i++) position[i] = number++;
    printf("seven: %d\n", spread(100));
#pragma omp taskloop num_tasks(6) firstprivate(number)
    for (unsigned i = 0; i < 100; i++) position[i] = number++;
    printf("six tasks: %d\n", spread(100));
#pragma omp taskloop num_tasks(strict : 5) firstprivate(number)
    for (int i = 0; i < 300; i += 3) position[i / 3] = number++;
    printf("five tasks: %d\n", spread(100));
    int least = 100, most = 0, last = -1;
#pragma omp taskloop grainsize(30) firstprivate(number) lastprivate(last)
    for (int i = 0; i < 100; i++) position[i] = number++, last = i;
    for (int i = 0; i < 100; i++)
      if (i == 99 || position[i + 1] == 0) {
        if (position[i] < least) least = position[i];
        if (position[i] > most) most = position[i];
      }
    printf("thirty at least: %d %d %d\n", least + 1 >= 30, most + 1 < 60, last);
#pragma omp taskloop grainsize(1000) firstprivate(number)
    for (int i = 0; i < 100; i++) position[i] = number++;
    printf("one task: %d\n", spread(100));
#pragma omp taskloop collapse(2) grainsize(1) firstprivate(number)
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++) position[i * 10 + j] = number++;
    printf("two loops: %d\n", spread(100));
    unsigned long long total = 0;
#pragma omp taskloop num_tasks(3) reduction(+ : total)
    for (unsigned long long i = ~0ull - 99; i < ~0ull; i++) total += i;
    printf("at the type's end: %llu\n", total);
  }
  return 0;
}
