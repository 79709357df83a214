// exit() by one thread inside a region ends the whole job with its code.
// threads: any
// expect-exit: 5
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
  printf("%d\n", sum);
  fflush(stdout);
#pragma omp parallel
  {
#pragma omp single
    {
      if (sum == 45) exit(5);
    }
  }
  printf("not reached\n");
  return 0;
}
