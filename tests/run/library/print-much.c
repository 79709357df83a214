// Half a megabyte of output from ordered blocks and serial code arrives complete.
// threads: any
#include <stdio.h>

int main(void) {
#pragma omp parallel for ordered schedule(static, 100)
  for (int i = 0; i < 400; i++) {
#pragma omp ordered
    for (int k = 0; k < 20; k++) printf("%06d %06d the quick brown fox jumps\n", i, k);
  }
  for (int i = 0; i < 5000; i++) printf("%d serial line\n", i);
  return 0;
}
