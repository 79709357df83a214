// strtok in a critical section of a region.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls strtok, which keeps state in the C library
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static char lines[20][40];
  int sums[20] = {0};
  for (int i = 0; i < 20; i++) snprintf(lines[i], sizeof lines[i], "%d,%d;%d", i, i * 2, i * 3);
#pragma omp parallel for
  for (int i = 0; i < 20; i++) {
#pragma omp critical
    for (char *word = strtok(lines[i], ",;"); word; word = strtok(NULL, ",;")) sums[i] += atoi(word);
  }
  for (int i = 0; i < 20; i++) printf("%d ", sums[i]);
  printf("\n");
  return 0;
}
