// What both versions of the wavefront compute.
#ifndef WAVE_H
#define WAVE_H

#include "../common.h"

// Columns of a block.
enum { WIDTH = 64 };

// The last column of a block, of n.
static inline int block_end(int n, int block) {
  int end = (block + 1) * WIDTH;
  return end < n ? end : n;
}

static inline double relaxed(const double *u, int at, int line) {
  return 0.1 * u[at] + 0.225 * ((u[at - line] + u[at + line]) + (u[at - 1] + u[at + 1]));
}

static inline double initial(int i, int j) { return (i * 7 + j * 13) % 101 / 101.0; }

#endif
