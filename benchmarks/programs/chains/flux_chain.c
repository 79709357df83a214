// The loops as a chain: NAME is what the way is called, ITEMS its schedule.
#include "flux.h"
#include "flux_loops.h"

static size_t faces(void) { return (size_t)COMPONENTS * (size_t)(size + 1) * (size_t)(size + 1) * (size_t)(size + 1); }

#define CHAIN(ITEMS) CHAIN_OF(ITEMS)
#define CHAIN_OF(...) AS_PRAGMA(omplc loopchain schedule(__VA_ARGS__) local(x, y, z))

static void chain_box(const double *restrict old_cells, double *restrict new_cells, double *restrict x, double *restrict y,
                      double *restrict z, int n) {
  CHAIN(ITEMS) { LOOPS(x, y, z) }
}

static void chain(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *x = temporaries(3 * faces() * sizeof *x);
    chain_box(old_boxes + b * cells_of_box(size), new_boxes + b * cells_of_box(size), x, x + faces(), x + 2 * faces(), size);
  }
}

WAY(NAME, chain)
