// Heat on a plate: reads a parameter file, computes, writes a result file and
// a picture.
#include "output.h"
#include "parameters.h"
#include "solver.h"

#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: heat PARAMETER-FILE RESULT-FOLDER\n");
    return 2;
  }
  struct parameters p = read_parameters(argv[1]);
  struct plate plate = new_plate(&p);
  printf("%d x %d cells, %d steps, %d threads\n", p.width, p.height, p.steps,
         omp_get_max_threads());

  double start = omp_get_wtime();
  for (int done = 0; done < p.steps;) {
    int steps = p.steps - done < p.report_every ? p.steps - done : p.report_every;
    double change = advance(&plate, steps);
    done += steps;
    printf("step %5d: mean temperature %.6f, last change %.6f\n", done, mean_temperature(&plate),
           change);
  }
  printf("computed in %.2f s\n", omp_get_wtime() - start);

  double hottest = 0;
  for (int i = 0; i < p.heaters; i++)
    if (p.heater[i].temperature > hottest)
      hottest = p.heater[i].temperature;
  char path[4096];
  snprintf(path, sizeof path, "%s/heat.bin", argv[2]);
  write_binary(path, &plate.temperature);
  snprintf(path, sizeof path, "%s/heat.png", argv[2]);
  write_picture(path, &plate.temperature, hottest);
  snprintf(path, sizeof path, "%s/heat.txt", argv[2]);
  write_text_picture(path, &plate.temperature, hottest);
  free_plate(&plate);
  return 0;
}
