// The loops as they are written, with one array for the faces of all directions and with three. NAME distinguishes compilations.
#include "flux.h"
// Without pragmas.
#define NEST(...)
#include "flux_loops.h"

#ifndef NAME
#define NAME ""
#endif

static size_t faces(void) { return (size_t)COMPONENTS * (size_t)(size + 1) * (size_t)(size + 1) * (size_t)(size + 1); }

static void shared_box(const double *restrict old_cells, double *restrict new_cells, double *restrict x, int n) { LOOPS(x, x, x) }

static void shared(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *x = temporaries(faces() * sizeof *x);
    shared_box(old_boxes + b * cells_of_box(size), new_boxes + b * cells_of_box(size), x, size);
  }
}

static void three_box(const double *restrict old_cells, double *restrict new_cells, double *restrict x, double *restrict y,
                      double *restrict z, int n) {
  LOOPS(x, y, z)
}

static void three(void) {
#pragma omp parallel for
  for (int b = 0; b < boxes; b++) {
    double *x = temporaries(3 * faces() * sizeof *x);
    three_box(old_boxes + b * cells_of_box(size), new_boxes + b * cells_of_box(size), x, x + faces(), x + 2 * faces(), size);
  }
}

WAY("plain" NAME, shared)
WAY("plain-three" NAME, three)
