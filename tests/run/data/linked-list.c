// Lists built serially, walked and changed in a region through an array of their heads.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct node {
  long value;
  struct node *next;
};

int main(void) {
  enum { lists = 16 };
  struct node *heads[lists] = {NULL};
  long sums[lists], total = 0;
  for (int i = 0; i < 800; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i * i % 97;
    node->next = heads[i % lists];
    heads[i % lists] = node;
  }
#pragma omp parallel
  {
#pragma omp for
    for (int l = 0; l < lists; l++) {
      sums[l] = 0;
      for (struct node *p = heads[l]; p; p = p->next) sums[l] += p->value++;
    }
    // Reversed in place by one thread each.
#pragma omp for schedule(static, 1)
    for (int l = 0; l < lists; l++) {
      struct node *reversed = NULL;
      while (heads[l]) {
        struct node *next = heads[l]->next;
        heads[l]->next = reversed;
        reversed = heads[l];
        heads[l] = next;
      }
      heads[l] = reversed;
    }
#pragma omp for reduction(+ : total)
    for (int l = 0; l < lists; l++) {
      long weight = 1;
      for (struct node *p = heads[l]; p; p = p->next) total += p->value * weight++;
    }
  }
  long check = 0;
  for (int l = 0; l < lists; l++) check = check * 31 + sums[l];
  printf("%ld %ld\n", total, check);
  return 0;
}
