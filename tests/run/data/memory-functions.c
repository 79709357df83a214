// memcpy, memmove, memset and memcmp on shared data, in regions and in serial code.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { rows = 24, width = 777 };
  static int source[rows][width];
  int(*target)[width] = malloc(sizeof source), equal = 0;
  unsigned char *bytes = malloc(rows * width);
#pragma omp parallel for
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < width; c++) source[r][c] = r * 1000 + c;
  memcpy(target, source, sizeof source);
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    memmove(target[r] + 10, target[r], (width - 10) * sizeof(int));
    memset(target[r], 0, 10 * sizeof(int));
    memset(bytes + r * width, 'a' + r, width);
  }
#pragma omp parallel for schedule(static, 1)
  for (int r = 0; r < rows; r += 2) memcpy(source[r], target[r + 1], sizeof source[r]);
#pragma omp parallel for reduction(+ : equal)
  for (int r = 0; r < rows - 1; r++) equal += memcmp(source[r], target[r + 1], 40) == 0;
  memmove(source[1], source[0], sizeof source - sizeof source[0]);
  long sum = 0;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < width; c++) sum += (long)source[r][c] * (c % 5) + target[r][c] + bytes[r * width + c];
  printf("%d %ld\n", equal, sum);
  free(target);
  free(bytes);
  return 0;
}
