// Without mpirun the program is a team of one.
// ranks: 0 1
// threads: 1
#include <omp.h>
#include <stdio.h>

int main(void) {
  int team = 0, sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp master
    team = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < 100; i++) sum += i;
  }
  printf("%d %d %d\n", team, sum, omp_get_max_threads());
  return 0;
}
