// The tiles of the transpose: columns and rows of one stay in the first cache.
#ifndef TILE_H
#define TILE_H

enum { TILE = 32 };

static inline int least(int a, int b) { return a < b ? a : b; }

#endif
