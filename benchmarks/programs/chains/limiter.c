// The data of the limiter: `limiter CELLS BOXES REPETITIONS [WAY]`.
#include "limiter.h"

#include "../common.h"

#include <string.h>

int size, boxes;
double *cells, *limited;

void prepare(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++)
    memset(limited + b * cells_of_box(size), 0, (size_t)cells_of_box(size) * sizeof *limited);
}

size_t pieces(void) { return (size_t)boxes; }

const double *piece(size_t number, size_t *count) {
  *count = (size_t)cells_of_box(size);
  return limited + number * *count;
}

int main(int argc, char **argv) {
  size = number(argc, argv, 1, 32, 1);
  boxes = number(argc, argv, 2, 512, 1);
  int repetitions = number(argc, argv, 3, 15, 0);
  size_t all = (size_t)boxes * (size_t)cells_of_box(size);
  cells = allocate(all, sizeof *cells);
  limited = allocate(all, sizeof *limited);
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    unsigned long state = (unsigned long)b * 7919 + 17;
    for (long at = 0; at < cells_of_box(size); at++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      cells[b * cells_of_box(size) + at] = (double)(state >> 40) * 0x1p-24;
    }
  }
  return run_all(repetitions, argc > 4 ? argv[4] : NULL);
}
