// Constructors and destructors, with priorities, more than one of a function.
// RUN: %S/compile %plugin %s
#include <stdio.h>
static int order[8], count;
__attribute__((constructor(200))) static void late(void) { order[count++] = 200; }
__attribute__((constructor(101))) void early(void) { order[count++] = 101; }
__attribute__((constructor)) static void last(void) { order[count++] = 65535; }
__attribute__((constructor(150), destructor(150))) static void both(void) { order[count++ % 8] = 150; }
__attribute__((destructor)) static void end(void) { printf("%d\n", count); }
__attribute__((constructor)) static void with_region(void) {
#pragma omp parallel for
  for (int i = 5; i < 8; i++)
    order[i] = i;
}
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++)
    order[i] *= 2;
  printf("%d %d %d %d\n", order[0], order[1], order[2], order[7]);
  return 0;
}
