// The edges of the graph, of which each can be drawn on its own.
#ifndef EDGES_H
#define EDGES_H

#include "../common.h"
#include "../random.h"

struct edge {
  int from, to;
};

// Many lead to few vertices: of two draws the smaller one counts.
static inline struct edge new_edge(int iteration, int i, int vertices) {
  uint64_t draw = scrambled((uint64_t)iteration << 32 | (uint32_t)i);
  int from = (int)(draw % vertices), one = (int)((draw >> 20) % vertices),
      other = (int)((draw >> 40) % vertices);
  return (struct edge){from, one < other ? one : other};
}

#endif
