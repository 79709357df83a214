// The value main returns is the exit code of the job.
// ranks: 0 1 2 4
// threads: any
// expect-exit: 7
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d\n", sum);
  return sum == 4950 ? 7 : 1;
}
