// What one thread writes in a critical section, the next one to enter sees, across many pages.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int *pages = calloc(20 * 1024, sizeof *pages), wrong = 0, entered = 0;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 64; i++) {
#pragma omp critical
    {
      for (int p = 0; p < 20; p++) {
        if (pages[p * 1024] != entered * p) wrong++;
        pages[p * 1024] += p;
      }
      entered++;
    }
  }
  printf("%d %d %d\n", entered, wrong, pages[19 * 1024]);
  free(pages);
  return 0;
}
