// The queries of the OpenMP API, in serial code and in regions.
#include <omp.h>
#include <stdio.h>

int main(void) {
  printf("%d %d %d %d\n", omp_get_num_threads(), omp_get_max_threads(), omp_get_thread_num(),
         omp_in_parallel());
  printf("%d %d %d %d\n", omp_get_level(), omp_get_active_level(), omp_get_dynamic(),
         omp_get_cancellation());
  printf("%d %d %d\n", omp_get_ancestor_thread_num(0), omp_get_team_size(0),
         omp_get_ancestor_thread_num(1));
  printf("%d %d %d %d\n", omp_is_initial_device(), omp_get_num_teams(), omp_get_team_num(),
         omp_in_final());
  printf("%d\n", omp_get_num_procs() > 0 && omp_get_thread_limit() > 0 &&
                     omp_get_supported_active_levels() > 0);
  omp_set_dynamic(1);
  printf("%d ", omp_get_dynamic());
  omp_set_dynamic(0);
  printf("%d\n", omp_get_dynamic());
  omp_set_max_active_levels(1);
  printf("%d\n", omp_get_max_active_levels());
  int team[64], size = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp master
    size = omp_get_num_threads();
    team[me] = omp_get_max_threads() * 1000 + omp_get_num_threads() * 100 + omp_get_level() * 10 +
               omp_in_parallel();
  }
  for (int t = 0; t < size; t++) printf("%d ", team[t]);
  printf("\n");
  omp_set_num_threads(1);
  printf("%d\n", omp_get_max_threads());
#pragma omp parallel
  {
#pragma omp master
    size = omp_get_num_threads();
  }
  printf("%d\n", size);
  return 0;
}
