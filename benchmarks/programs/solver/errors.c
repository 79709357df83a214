// What the solver says before it gives up.
#include <stdio.h>
#include <stdlib.h>

#include "solver.h"

void bail_out(const char *where, int step, double value) {
  fprintf(stderr, "%s: step %d: %g cannot be\n", where, step, value);
  exit(1);
}
