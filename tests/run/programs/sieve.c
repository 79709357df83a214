// The sieve of Eratosthenes: strided byte writes of all threads into the same pages.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { limit = 60000, root = 245 };
  unsigned char *composite = calloc(limit + 1, 1);
  int count = 0;
  for (int p = 2; p <= root; p++) {
    if (composite[p]) continue;
#pragma omp parallel for schedule(static)
    for (int k = p * p; k <= limit; k += p) composite[k] = 1;
  }
  long sum = 0;
#pragma omp parallel for reduction(+ : count, sum)
  for (int i = 2; i <= limit; i++)
    if (!composite[i]) {
      count++;
      sum += i;
    }
  printf("%d %ld\n", count, sum);
  free(composite);
  return 0;
}
