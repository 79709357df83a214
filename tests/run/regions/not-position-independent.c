// An executable at a fixed address.
// flags: -no-pie -fno-pie
// threads: any
// ranks: 1 3
#include <stdio.h>

static int table[2000];
int extern_table[50] = {1};

int main(void) {
  long sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 2000; i++) table[i] = i + extern_table[i % 50];
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 2000; i++) sum += table[1999 - i] * (long)i;
  printf("%ld\n", sum);
  return 0;
}
