// A solver of three files, as programs are written: one region around all of it, whose loops are in another file, and
// timers, an error function, random numbers and small arithmetic in a third. Nothing of that is known where it is called;
// the run time finds out what those functions access when the program starts.
// opt: -O0 -O2
// threads: any
#include "solver.h"
#include <stdio.h>

double total, largest;

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      grid[i][j] = (i * 7 + j * 3) % 11;
#pragma omp parallel
  {
    double seed = 314159265.0;
    double turned[3] = {1, 0, 0}, axis[3] = {0, 0.5, 0.25};
    for (int step = 0; step < STEPS; step++) {
#pragma omp master
      timer_start(1);
      double amount = randlc(&seed, 1220703125.0);
      cross(turned, turned, axis);
      load(amount + 0.125 * turned[step % 3]);
      turned[0] += 0.5;
#pragma omp master
      timer_start(2);
      double change = sweep();
#pragma omp master
      timer_stop(2);
      flux(step);
      if (change != change)
        bail_out("sweep", change, step);
#pragma omp single
      {
        total += change;
        if (change > largest)
          largest = change;
      }
#pragma omp master
      timer_stop(1);
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum = sum * 0.999 + grid[i][j] - next[j][i];
  printf("%.12g %.12g %.12g %d\n", sum, total, largest, timers_ran());
}
