// An object that was compiled without the plugin and starts OpenMP threads is reported at the start.
// reference: none
// untranslated: plain.c
// ranks: 2
// opt: -O2
// limit: 20
// expect-exit: failure
// expect-stderr: compile all of the program's sources with the plugin
#include <stdio.h>

int plain_sum(const int *values, int n);

int main(void) {
  int values[100];
#pragma omp parallel for
  for (int i = 0; i < 100; i++) values[i] = i;
  printf("not reached %d\n", plain_sum(values, 100));
  return 0;
}
