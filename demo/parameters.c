#include "parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *path, int line, const char *what) {
  fprintf(stderr, "%s:%d: %s\n", path, line, what);
  exit(2);
}

// Reads one line; returns 0 if it is not understood.
static int read_line(struct parameters *p, const char *line) {
  struct heater h;
  struct wall w;
  if (sscanf(line, "size %d %d", &p->width, &p->height) == 2)
    return p->width >= 3 && p->height >= 3;
  if (sscanf(line, "steps %d", &p->steps) == 1)
    return p->steps >= 0;
  if (sscanf(line, "report-every %d", &p->report_every) == 1)
    return p->report_every > 0;
  if (sscanf(line, "diffusivity %lf", &p->diffusivity) == 1)
    return p->diffusivity > 0 && p->diffusivity <= 0.25;
  if (sscanf(line, "heater %lf %lf %lf %lf", &h.x, &h.y, &h.radius, &h.temperature) == 4) {
    if (p->heaters == MAX_HEATERS)
      return 0;
    p->heater[p->heaters++] = h;
    return 1;
  }
  if (sscanf(line, "wall %d %d %d %d %lf", &w.left, &w.top, &w.right, &w.bottom,
             &w.conductivity) == 5) {
    if (p->walls == MAX_WALLS || w.conductivity <= 0 || w.conductivity > 1)
      return 0;
    p->wall[p->walls++] = w;
    return 1;
  }
  return 0;
}

struct parameters read_parameters(const char *path) {
  struct parameters p = {.width = 200, .height = 100, .steps = 100, .report_every = 100,
                         .diffusivity = 0.2};
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    exit(2);
  }
  char line[200];
  for (int number = 1; fgets(line, sizeof line, file); number++)
    if (line[0] != '#' && strspn(line, " \t\r\n") != strlen(line) && !read_line(&p, line))
      stop(path, number, "not understood, or out of range");
  fclose(file);
  return p;
}
