// The levels, ancestors and team sizes the API reports in nested regions.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int outer[64][8], size = 0;
  printf("serial: %d %d %d\n", omp_get_level(), omp_get_active_level(), omp_in_parallel());
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp single
    size = omp_get_num_threads();
#pragma omp parallel
    {
      int *row = outer[me];
      row[0] = omp_get_level();
      row[1] = omp_get_active_level();
      row[2] = omp_get_thread_num();
      row[3] = omp_get_num_threads();
      row[4] = omp_get_ancestor_thread_num(1) == me;
      row[5] = omp_get_ancestor_thread_num(2);
      row[6] = omp_get_team_size(1);
      row[7] = omp_get_ancestor_thread_num(0) * 100 + omp_get_team_size(0) * 10 +
               (omp_get_ancestor_thread_num(7) == -1);
    }
  }
  for (int t = 0; t < size; t++) {
    for (int k = 0; k < 8; k++) printf("%d ", outer[t][k]);
    printf("\n");
  }
  return 0;
}
