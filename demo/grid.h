// A rectangle of cells, row after row.
#ifndef GRID_H
#define GRID_H

struct grid {
  int width, height;
  double **row;  // row[y][x]
};

struct grid new_grid(int width, int height, double value);
void free_grid(struct grid *grid);

#endif
