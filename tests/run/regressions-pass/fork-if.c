// The conditional fork that clang's other code generator makes of an if clause.
// flags: -Xclang -fopenmp-enable-irbuilder
#include <omp.h>
#include <stdio.h>

int main(void) {
  int threads[2][2] = {{0, 0}, {0, 0}};
  for (int wanted = 0; wanted < 2; wanted++) {
#pragma omp parallel if (wanted)
    {
#pragma omp master
      {
        threads[wanted][0] = omp_get_num_threads();
        threads[wanted][1] = omp_in_parallel();
      }
    }
  }
  for (int wanted = 0; wanted < 2; wanted++)
    printf("%d %d\n", threads[wanted][0], threads[wanted][1]);
  return 0;
}
