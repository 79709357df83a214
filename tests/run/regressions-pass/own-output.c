// A function of the program that has the name of one of the C library may keep the pointers that it is given.
#include <stdio.h>

static long total, seen;
static long *kept;

int puts(const char *text) {
  kept = (long *)text;
  return 0;
}

int main(void) {
  puts((const char *)&total);
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp critical
    total += i;
#pragma omp critical
    {
      seen = *kept;
      *kept = seen + 1;
    }
  }
  printf("%ld\n", total);
  return 0;
}
