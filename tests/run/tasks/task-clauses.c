// if, final, mergeable, untied, priority and affinity clauses; omp_in_final.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int ran = 0, in_final = 0, undeferred = 0, data[10] = {0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0)
    undeferred = 1;
    // An undeferred task is complete here.
    if (undeferred) ran++;
#pragma omp task final(1)
    {
      in_final += omp_in_final();
#pragma omp task
      in_final += omp_in_final();
    }
#pragma omp task mergeable untied priority(2) affinity(data[0 : 10])
    {
#pragma omp atomic
      ran++;
#pragma omp taskyield
    }
  }
  printf("%d %d %d\n", ran, in_final, undeferred);
  return 0;
}
