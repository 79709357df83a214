// A rank that dies while others ask it for pages, over and over, ends the job, and nobody tells anything but the
// launcher.
// reference: none
// ranks: 2 3
// opt: -O2
// limit: 60
// env: OKL_SECTIONS=0
// env: OKL_RANKS_PER_NODE=1
// expect-exit: failure
// expect-stderr: signal
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 1 << 22;
  long *a = calloc(n, sizeof *a), all = 0;
#pragma omp parallel reduction(+ : all)
  for (int round = 0; round < 1000; round++) {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
    if (round == 3 && omp_get_thread_num() == 1) __builtin_trap();
#pragma omp for
    for (int i = 0; i < n; i++) all += a[n - 1 - i];
  }
  printf("not reached %ld\n", all);
  return 0;
}
