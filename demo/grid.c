#include "grid.h"

#include <stdio.h>
#include <stdlib.h>

struct grid new_grid(int width, int height, double value) {
  struct grid grid = {width, height, malloc(height * sizeof(double *))};
  double *cells = malloc((size_t)width * height * sizeof(double));
  if (!grid.row || !cells) {
    fprintf(stderr, "out of memory for %d x %d cells\n", width, height);
    exit(1);
  }
#pragma omp parallel for
  for (int y = 0; y < height; y++) {
    grid.row[y] = cells + (size_t)y * width;
    for (int x = 0; x < width; x++)
      grid.row[y][x] = value;
  }
  return grid;
}

void free_grid(struct grid *grid) {
  free(grid->row[0]);
  free(grid->row);
  grid->row = NULL;
}
