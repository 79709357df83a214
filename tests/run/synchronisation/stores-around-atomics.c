// Each thread stores to a byte of its own, accesses an atomic variable beside it, and stores to the byte again; the first
// thread's store is there before, and it
// comes to the barrier later. With OKL_VERIFY no byte has been changed by two.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static struct {
  unsigned char bytes[64];
  long atomic;
} shared __attribute__((aligned(4096)));

int main(void) {
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 64; i++) shared.bytes[i] = i;
#pragma omp parallel
    {
      int me = omp_get_thread_num();
      if (me > 0) usleep(20000);  // a pause decides which order is tried, not what comes out
      shared.bytes[me] += 11;
      if (me > 0) {
        long seen;
#pragma omp atomic read seq_cst
        seen = shared.atomic;
        shared.bytes[me] += 5 + seen;
      } else {
        usleep(80000);
      }
#pragma omp barrier
    }
    int wrong = 0;
    for (int i = 0; i < 64; i++) {
      int expected = i + (i < omp_get_max_threads() ? i > 0 ? 16 : 11 : 0);
      wrong += shared.bytes[i] != expected;
    }
    printf("%d wrong\n", wrong);
  }
  return 0;
}
