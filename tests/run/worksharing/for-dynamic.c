// schedule(dynamic): every iteration once, whatever the chunk and the loop's direction.
// threads: any
#include <stdio.h>

int main(void) {
  int count[300] = {0};
  for (int chunk = 1; chunk < 400; chunk = chunk * 3 + 1) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, chunk)
      for (int i = 0; i < 300; i++) count[i]++;
#pragma omp for schedule(dynamic) nowait
      for (int i = 299; i >= 0; i--) count[i] += 10;
    }
  }
#pragma omp parallel for schedule(monotonic : dynamic, 7)
  for (long i = 0; i < 300; i += 3) count[i] += 1000;
#pragma omp parallel for schedule(nonmonotonic : dynamic, 7)
  for (unsigned i = 0; i < 300; i += 5) count[i] += 10000;
  unsigned sum = 0;
  for (int i = 0; i < 300; i++) sum = sum * 33 + (unsigned)count[i];
  printf("%u %d %d\n", sum, count[0], count[299]);
  return 0;
}
