// A task for each node of a linked list, with captured pointers.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

int main(void) {
  struct node *head = NULL;
  for (int i = 0; i < 60; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i;
    node->next = head;
    head = node;
  }
#pragma omp parallel
#pragma omp single
  for (struct node *p = head; p; p = p->next) {
#pragma omp task firstprivate(p)
    p->value = p->value * p->value + (p->next ? 1 : 0);
  }
  long sum = 0;
  for (struct node *p = head; p; p = p->next) sum = sum * 7 % 1000003 + p->value;
  printf("%ld\n", sum);
  return 0;
}
