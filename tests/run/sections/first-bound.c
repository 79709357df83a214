// The first bound of a rank's rows is read before the loop, and lies in the page in which what the loop writes
// begins. It has been declared and not yet been read when that page is opened for the writes.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 907, MOST = 9 };

int main(void) {
  short *start = malloc((ROWS + 1) * sizeof *start), *column = malloc(ROWS * MOST * sizeof *column);
  start[0] = 0;
  for (int i = 0; i < ROWS; i++) start[i + 1] = start[i] + i * 7 % MOST;
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++)
    for (int k = start[i]; k < (int)start[i + 1]; k++) column[k] = (i + k * 3) % ROWS;
  unsigned sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < start[ROWS]; k++) sum += column[k] * (k % 17u);
  printf("%u\n", sum);
  free(start), free(column);
  return 0;
}
