// Gravity between all pairs, positions and velocities in an array of structs.
// threads: any
#include <math.h>
#include <stdio.h>

enum { n = 120 };
static struct body {
  double x[3], v[3], mass;
} bodies[n];

int main(void) {
  for (int i = 0; i < n; i++) {
    bodies[i].mass = 1 + i % 3;
    for (int k = 0; k < 3; k++) bodies[i].x[k] = (i * (k + 7) * 13 % 101) * 0.1;
  }
  for (int step = 0; step < 6; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < n; i++) {
        double force[3] = {0};
        for (int j = 0; j < n; j++) {
          double d[3], r2 = 0.01;
          for (int k = 0; k < 3; k++) {
            d[k] = bodies[j].x[k] - bodies[i].x[k];
            r2 += d[k] * d[k];
          }
          double scale = bodies[j].mass / (r2 * sqrt(r2));
          for (int k = 0; k < 3; k++) force[k] += d[k] * scale;
        }
        for (int k = 0; k < 3; k++) bodies[i].v[k] += force[k] * 0.01;
      }
#pragma omp for
      for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) bodies[i].x[k] += bodies[i].v[k] * 0.01;
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) sum += bodies[i].x[k] * (k + 1) + bodies[i].v[k];
  printf("%.17g\n", sum);
  return 0;
}
