// The data of the fluxes: `flux CELLS BOXES REPETITIONS [WAY]`.
#include "flux.h"

#include "../common.h"

#include <string.h>

int size, boxes;
double *old_boxes, *new_boxes;

void prepare(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++)
    memcpy(new_boxes + b * cells_of_box(size), old_boxes + b * cells_of_box(size),
           (size_t)cells_of_box(size) * sizeof *new_boxes);
}

size_t pieces(void) { return (size_t)boxes; }

const double *piece(size_t number, size_t *count) {
  *count = (size_t)cells_of_box(size);
  return new_boxes + number * *count;
}

int main(int argc, char **argv) {
  size = number(argc, argv, 1, 16, 1);
  boxes = number(argc, argv, 2, 512, 1);
  int repetitions = number(argc, argv, 3, 15, 0);
  size_t all = (size_t)boxes * (size_t)cells_of_box(size);
  old_boxes = allocate(all, sizeof *old_boxes);
  new_boxes = allocate(all, sizeof *new_boxes);
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    unsigned long state = (unsigned long)b * 7919 + 17;
    for (long at = 0; at < cells_of_box(size); at++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      old_boxes[b * cells_of_box(size) + at] = (double)(state >> 40) * 0x1p-24 - 0.25;
    }
  }
  return run_all(repetitions, argc > 4 ? argv[4] : NULL);
}
