// The points and their clusters. Coordinates are multiples of 1/64: their sums are exact in any order.
#ifndef POINTS_H
#define POINTS_H

#include "../common.h"
#include "../random.h"

enum { CLUSTERS = 8 };

struct point {
  double x, y;
};

// Around eight places, and scattered.
static inline struct point new_point(int i) {
  uint64_t draw = scrambled(i);
  int place = (int)(draw % 8);
  double x = (double)((draw >> 8) % 512) / 64, y = (double)((draw >> 24) % 512) / 64;
  return (struct point){x + 6 * (place % 3), y + 6 * (place / 3)};
}

// The sums of the points of each cluster: x, y, how many.
typedef double sums[3 * CLUSTERS];

static inline int nearest(struct point p, const struct point *centres) {
  int best = 0;
  double least = 1e300;
  for (int c = 0; c < CLUSTERS; c++) {
    double dx = p.x - centres[c].x, dy = p.y - centres[c].y, distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  return best;
}

static inline void move_centres(const double *found, struct point *centres) {
  for (int c = 0; c < CLUSTERS; c++)
    if (found[3 * c + 2] > 0)
      centres[c] =
          (struct point){found[3 * c] / found[3 * c + 2], found[3 * c + 1] / found[3 * c + 2]};
}

static inline void first_centres(struct point *centres) {
  for (int c = 0; c < CLUSTERS; c++)
    centres[c] = new_point(c);
}

#endif
