// Iterations of a loop with a dynamic schedule that one thread executes may add to the same variable: clang calls such
// iterations parallel nevertheless, and LLVM would add up only some of them.
// opt: -O1 -O2 -O3
#include <stdio.h>
#include <stdlib.h>

static unsigned long collected;
#pragma omp threadprivate(collected)

int main(void) {
  unsigned short **total = malloc(2 * sizeof *total);
  total[1] = calloc(3, sizeof **total);
#pragma omp parallel
  {
    collected = 0;
#pragma omp for nowait schedule(dynamic, 11)
    for (int i = 0; i < 310; i++)
      collected += (unsigned long)i;
#pragma omp atomic
    total[1][2] += collected;
  }
  printf("%d\n", total[1][2]);
  return 0;
}
