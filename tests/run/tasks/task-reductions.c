// Task reductions: on taskgroup, taskloop, and through the task modifier of parallel and for.
// threads: any
#include <stdio.h>

struct pair {
  int a, b;
};
#pragma omp declare reduction(+ : struct pair : omp_out.a += omp_in.a, omp_out.b ^= omp_in.b)      \
    initializer(omp_priv = {0, 0})

static int total;

static void work(int depth) {
#pragma omp task in_reduction(+ : total)
  {
    total += depth;
    if (depth > 0) work(depth - 1);
  }
}

int main(void) {
  int sum = 100, product = 1, by_loop = 3, by_region = 0, by_for = 0, array[4] = {0};
  struct pair pair = {1, 1};
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum, pair, array) task_reduction(* : product)
    {
      for (int i = 1; i <= 20; i++) {
#pragma omp task in_reduction(+ : sum, pair, array) in_reduction(* : product)
        {
          sum += i;
          pair.a += i;
          pair.b ^= i;
          array[i % 4] += i;
          if (i % 7 == 0) product *= 3;
        }
      }
    }
#pragma omp taskloop reduction(+ : by_loop) grainsize(4)
    for (int i = 0; i < 50; i++) by_loop += i;
#pragma omp taskgroup task_reduction(+ : total)
    work(9);
  }
#pragma omp parallel reduction(task, + : by_region)
  {
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : by_region)
      by_region += i;
    }
  }
#pragma omp parallel
  {
#pragma omp for reduction(task, + : by_for)
    for (int i = 0; i < 10; i++) {
      by_for += 100;
#pragma omp task in_reduction(+ : by_for)
      by_for += i;
    }
  }
  printf("%d %d %d %d %d %d %d %d %d\n", sum, product, pair.a, pair.b, array[1], by_loop, total,
         by_region, by_for);
  return 0;
}
