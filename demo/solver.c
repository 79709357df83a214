#include "solver.h"

#include <math.h>

static double conductivity(const struct parameters *p, int x, int y) {
  double value = 1;
  for (int i = 0; i < p->walls; i++) {
    const struct wall *w = &p->wall[i];
    if (x >= w->left && x < w->right && y >= w->top && y < w->bottom)
      value = w->conductivity;
  }
  return value;
}

static double heater_temperature(const struct parameters *p, int x, int y) {
  double value = -1;
  for (int i = 0; i < p->heaters; i++) {
    const struct heater *h = &p->heater[i];
    if (hypot(x - h->x, y - h->y) <= h->radius)
      value = h->temperature;
  }
  return value;
}

// Two halves of a cell in series conduct like the harmonic mean.
static double between(double a, double b) { return 2 * a * b / (a + b); }

struct plate new_plate(const struct parameters *p) {
  int width = p->width, height = p->height;
  struct plate plate = {
      .temperature = new_grid(width, height, 0),
      .next = new_grid(width, height, 0),
      .east = new_grid(width, height, 1),
      .south = new_grid(width, height, 1),
      .held = new_grid(width, height, -1),
      .diffusivity = p->diffusivity,
  };
#pragma omp parallel for schedule(dynamic, 8)
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      double here = conductivity(p, x, y);
      plate.east.row[y][x] = between(here, conductivity(p, x + 1, y));
      plate.south.row[y][x] = between(here, conductivity(p, x, y + 1));
      plate.held.row[y][x] = heater_temperature(p, x, y);
    }
  return plate;
}

void free_plate(struct plate *plate) {
  free_grid(&plate->temperature);
  free_grid(&plate->next);
  free_grid(&plate->east);
  free_grid(&plate->south);
  free_grid(&plate->held);
}

static double step(struct plate *plate) {
  double **old = plate->temperature.row, **new = plate->next.row;
  double **east = plate->east.row, **south = plate->south.row, **held = plate->held.row;
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (int y = 1; y < plate->temperature.height - 1; y++)
    for (int x = 1; x < plate->temperature.width - 1; x++) {
      double t = old[y][x];
      double flow = east[y][x] * (old[y][x + 1] - t) + east[y][x - 1] * (old[y][x - 1] - t) +
                    south[y][x] * (old[y + 1][x] - t) + south[y - 1][x] * (old[y - 1][x] - t);
      new[y][x] = held[y][x] >= 0 ? held[y][x] : t + plate->diffusivity * flow;
      largest = fmax(largest, fabs(new[y][x] - t));
    }
  struct grid other = plate->temperature;
  plate->temperature = plate->next;
  plate->next = other;
  return largest;
}

double advance(struct plate *plate, int steps) {
  double largest = 0;
  for (int i = 0; i < steps; i++)
    largest = step(plate);
  return largest;
}

double mean_temperature(const struct plate *plate) {
  const struct grid *t = &plate->temperature;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int y = 0; y < t->height; y++)
    for (int x = 0; x < t->width; x++)
      sum += t->row[y][x];
  return sum / ((double)t->width * t->height);
}
