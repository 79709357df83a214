// An inline function of C99 that is defined by an object compiled without okl, and called there: it may keep state of
// its own.
// threads: any
// ranks: 2 3
// opt: -O2
// expect-stderr: calls next (in main), which was not compiled with okl and may keep state of its own
// untranslated: next.c
#include "next.h"
#include <stdio.h>

int main(void) {
  int a[100];
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    a[i] = next(i);
  int s = 0;
  for (int i = 0; i < 100; i++)
    s += a[i];
  printf("%d\n", s);
  return 0;
}
