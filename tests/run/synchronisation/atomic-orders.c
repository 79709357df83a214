// Atomics of every memory order in loops of every kind are no busy-waiting: the regions stay distributed.
// threads: any
// flags: -fopenmp-version=51
#include <stdio.h>
#include <stdlib.h>

struct node {
  long value;
  struct node *next;
};

int main(void) {
  long sum = 0, product = 1, last = 0, seen_sum = 0;
  struct node *list = NULL;
  for (int i = 0; i < 5; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i;
    node->next = list;
    list = node;
  }
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 50; i++) {
#pragma omp atomic seq_cst
      sum += i;
#pragma omp atomic relaxed
      product *= 3;
    }
#pragma omp for
    for (int i = 0; i < 20; i++)
      for (int k = 0; k < 3; k++) {
#pragma omp atomic update release
        product *= 5;
      }
#pragma omp for schedule(guided)
    for (int i = 0; i < 10; i++)
      for (struct node *node = list; node; node = node->next) {
#pragma omp atomic seq_cst
        sum = node->value - sum;
      }
#pragma omp for reduction(+ : seen_sum) nowait
    for (int i = 0; i < 30; i++) {
      long seen;
#pragma omp atomic read acquire
      seen = product;
      seen_sum += seen != 0;
#pragma omp atomic write seq_cst
      last = 7;
    }
  }
  printf("%ld %ld %ld %ld\n", sum & 1, product, seen_sum, last);
  while (list) {
    struct node *next = list->next;
    free(list);
    list = next;
  }
  return 0;
}
