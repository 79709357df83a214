// schedule(runtime) follows OMP_SCHEDULE and omp_set_schedule.
// env: OMP_SCHEDULE=static,3
#include <omp.h>
#include <stdio.h>

static void run(int *count) {
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 100; i++) count[i]++;
}

int main(void) {
  int owner[100], count[100] = {0};
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("%d %d\n", (int)kind, chunk);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 100; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 100; i++) printf("%d ", owner[i]);
  printf("\n");
  run(count);
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                               omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    omp_set_schedule(kinds[k], k * 2);
    omp_get_schedule(&kind, &chunk);
    printf("%d\n", kind == kinds[k]);
    run(count);
  }
  int good = 0;
  for (int i = 0; i < 100; i++) good += count[i] == 5;
  printf("%d\n", good);
  return 0;
}
