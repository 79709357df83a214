// 1 GiB whose pages alternate between ranks: more protections than the kernel allows mappings.
// ranks: 2
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 4096, PAGES = 1 << 18 };

int main(void) {
  char *memory = malloc((size_t)PAGE * PAGES);
  long sum = 0;
#pragma omp parallel for schedule(static, 1)
  for (int page = 0; page < PAGES; page++) memory[(size_t)page * PAGE] = (char)(page % 100);
  for (int page = 0; page < PAGES; page += 1000) sum += memory[(size_t)page * PAGE];
#pragma omp parallel for reduction(+ : sum)
  for (int page = 0; page < PAGES; page++) sum += memory[(size_t)page * PAGE];
  printf("%ld\n", sum);
  return 0;
}
