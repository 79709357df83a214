// Nodes allocated by all threads, pushed on one list in a critical section, read after it.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

int main(void) {
  struct node *head = NULL;
  int length = 0;
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 90; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i;
#pragma omp critical
    {
      node->next = head;
      head = node;
      length++;
      // The list is whole at every moment.
      if (length % 30 == 0) {
        int n = 0;
        for (struct node *p = head; p; p = p->next) n++;
        if (n != length) length = -1000000;
      }
    }
  }
  long sum = 0;
  while (head) {
    struct node *next = head->next;
    sum += (long)head->value * head->value;
    free(head);
    head = next;
  }
  printf("%d %ld\n", length, sum);
  return 0;
}
