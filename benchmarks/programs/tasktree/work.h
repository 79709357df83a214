// The tree of tasks: what a node is, and its children, follows from its number alone. Work per node differs ten-fold.
#ifndef WORK_H
#define WORK_H

#include "../common.h"
#include "../random.h"

enum { MOST_CHILDREN = 4 };

static inline int children(uint64_t node, int depth) {
  return depth == 0 ? 0 : 1 + (int)(scrambled(node) >> 8) % MOST_CHILDREN;
}

static inline uint64_t child(uint64_t node, int which) { return scrambled(node * 8 + which); }

// One to ten times `rounds` steps, each of which needs the one before. A whole number below 1000.
static inline double work(uint64_t node, int rounds) {
  uint64_t value = node;
  long steps = (1 + (long)(scrambled(node) >> 32) % 10) * rounds;
  for (long step = 0; step < steps; step++)
    value = scrambled(value);
  return (double)(value % 1000);
}

// The root of an iteration.
static inline uint64_t root(int iteration) { return scrambled(1000 + iteration); }

#endif
