// Host teams: a league runs its body, and distribute deals out all iterations.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[100] = {0}, ran = 0;
#pragma omp teams num_teams(1) thread_limit(4)
  {
    if (omp_get_team_num() >= omp_get_num_teams()) ran = -100;
#pragma omp distribute
    for (int i = 0; i < 100; i++) a[i] = i * 2;
#pragma omp atomic
    ran++;
  }
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += a[i];
  printf("%d %d\n", sum, ran > 0);
  return 0;
}
