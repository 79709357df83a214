// Every fourth page of 1 GiB, written by turns: more runs of pages than the kernel allows mappings.
// limit: 120
// opt: -O2
// ranks: 2
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const long page = 4096 / sizeof(long), pages = 1L << 18;
  long *a = malloc((size_t)(pages * page) * sizeof *a), sum = 0;
#pragma omp parallel for schedule(static, 1)
  for (long p = 0; p < pages; p += 4) a[p * page] = p;
#pragma omp parallel for schedule(static, 1) reduction(+ : sum)
  for (long p = 0; p < pages; p += 12) sum += a[p * page];
#pragma omp parallel for schedule(static, 1)
  for (long p = 0; p < pages; p += 64) a[p * page] += 1;
  for (long p = 0; p < pages; p += 64) sum += a[p * page];
  printf("%ld\n", sum);
  free(a);
  return 0;
}
