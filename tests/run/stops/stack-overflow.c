// A region that recurses too deep is told which stack is exhausted, before it overwrites anything.
// ranks: 2
// flags: -g
// env: OMP_STACKSIZE=1M
// reference: none
// expect-exit: 70
// expect-stderr: the stack of a region is exhausted; raise OMP_STACKSIZE
#include <omp.h>

int depth(int n, volatile char *before) {
  volatile char frame[256];
  frame[0] = *before;
  frame[255] = (char)n;
  return n == 1000000 ? 0 : depth(n + 1, frame) + frame[0];
}

int main(void) {
  int last = 0;
#pragma omp parallel reduction(+ : last)
  {
    char first = 0;
    if (omp_get_thread_num() == 1) last += depth(0, &first);
  }
  return last;
}
