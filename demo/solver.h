// Explicit time steps of the heat equation with conductivity that varies over
// the plate. The border cells stay at temperature 0, the heaters at theirs.
#ifndef SOLVER_H
#define SOLVER_H

#include "grid.h"
#include "parameters.h"

struct plate {
  struct grid temperature, next;
  struct grid east, south;  // conductivity towards the next cell in x and in y
  struct grid held;         // temperature a heater holds the cell at, or a negative number
  double diffusivity;
};

struct plate new_plate(const struct parameters *p);
void free_plate(struct plate *plate);

// Advances `steps` steps; returns the largest change of a cell in the last one.
double advance(struct plate *plate, int steps);

double mean_temperature(const struct plate *plate);

#endif
