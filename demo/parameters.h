// What the parameter file says.
#ifndef PARAMETERS_H
#define PARAMETERS_H

enum { MAX_HEATERS = 16, MAX_WALLS = 16 };

struct heater {
  double x, y, radius, temperature;
};

struct wall {
  int left, top, right, bottom;
  double conductivity;
};

struct parameters {
  int width, height;
  int steps, report_every;
  double diffusivity;  // dt * alpha / h^2: stable below 1/4
  int heaters, walls;
  struct heater heater[MAX_HEATERS];
  struct wall wall[MAX_WALLS];
};

// Ends the program with a message when the file cannot be read or makes no sense.
struct parameters read_parameters(const char *path);

#endif
