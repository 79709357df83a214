// copyprivate hands scalars, arrays, structs and pointers of one thread to all.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct item {
  char name[8];
  double value;
};

static int counter;
static long mine;
#pragma omp threadprivate(mine)

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int number = -1, array[4] = {0};
    struct item item = {"none", 0};
    double *heap = NULL;
    for (int round = 0; round < 5; round++) {
#pragma omp single copyprivate(number, array, item, heap, mine)
      {
        number = ++counter;
        for (int i = 0; i < 4; i++) array[i] = number * i;
        snprintf(item.name, sizeof item.name, "n%d", number);
        item.value = number / 4.0;
        heap = malloc(100 * sizeof *heap);
        for (int i = 0; i < 100; i++) heap[i] = i + number;
        mine = number * 1000L;
      }
      wrong += number != round + 1 || array[3] != 3 * number || item.name[1] != '0' + number;
      wrong += item.value != number / 4.0 || heap[99] != 99 + number || mine != number * 1000L;
#pragma omp barrier
#pragma omp master
      free(heap);
    }
  }
  printf("%d %d %ld\n", wrong, counter, mine);
  return 0;
}
