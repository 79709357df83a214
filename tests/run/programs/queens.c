// The eight queens puzzle with tasks and an atomic counter.
// threads: any
#include <stdio.h>

static int solutions;

static void place(int row, int columns, int down, int up) {
  if (row == 8) {
#pragma omp atomic
    solutions++;
    return;
  }
  for (int free = ~(columns | down | up) & 255; free; free &= free - 1) {
    int bit = free & -free;
#pragma omp task if (row < 2)
    place(row + 1, columns | bit, (down | bit) << 1, (up | bit) >> 1);
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  place(0, 0, 0, 0);
  printf("%d\n", solutions);
  return 0;
}
