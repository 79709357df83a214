// Standard input read by one thread inside a region.
// threads: any
// stdin: 3 10 20 30\n
// warns: parallel region runs on rank 0 alone: it calls scanf, which reads the standard input
#include <stdio.h>

int main(void) {
  int n = 0, sum = 0, a[10];
#pragma omp parallel
  {
#pragma omp single
    {
      if (scanf("%d", &n) != 1) n = -1;
      for (int i = 0; i < n; i++)
        if (scanf("%d", &a[i]) != 1) a[i] = -1;
    }
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[i];
  }
  printf("%d %d\n", n, sum);
  return 0;
}
