// Blocks by thread number, teams of sizes that are no multiple of the ranks, and what the query functions
// say in them.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4099, MOST = 16 };

static int fill(long *a, int *numbers, int asked) {
  int size = 0;
#pragma omp parallel num_threads(asked)
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    if (me == 0) size = team;
    numbers[me] = me + 100 * omp_get_ancestor_thread_num(1) + 10000 * (omp_get_team_size(1) == team);
    for (int i = (long)N * me / team; i < (long)N * (me + 1) / team; i++) a[i] = i + asked;
#pragma omp barrier
    for (int i = (long)N * (team - 1 - me) / team; i < (long)N * (team - me) / team; i++) a[i] *= 2;
  }
  return size;
}

int main(void) {
  long *a = malloc(N * sizeof *a);
  int *numbers = malloc(MOST * sizeof *numbers);
  int most = omp_get_max_threads(), right = 1;
  for (int asked = 1; asked <= most + 1; asked++) {
    for (int i = 0; i < MOST; i++) numbers[i] = -1;
    int size = fill(a, numbers, asked);
    right &= size == (asked < most ? asked : most) || most < 2 || asked > most;
    for (int i = 0; i < MOST; i++) right &= numbers[i] == (i < size ? 10000 + 101 * i : -1);
    for (int i = 0; i < N; i++) right &= a[i] == 2 * (i + asked);
  }
  omp_set_num_threads(most > 1 ? most - 1 : 1);
  right &= omp_get_max_threads() == (most > 1 ? most - 1 : 1);
  printf("right %d\n", right);
  return 0;
}
