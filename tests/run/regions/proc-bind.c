// proc_bind clauses and place queries change no result.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for proc_bind(close) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel for proc_bind(spread) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel for proc_bind(primary) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d %d\n", sum, omp_get_num_places() >= 0);
  return 0;
}
