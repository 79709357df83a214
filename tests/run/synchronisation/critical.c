// Unnamed and named critical sections around updates no atomic could do.
// threads: any
#include <stdio.h>

struct stats {
  long count, sum;
  int smallest, largest;
};

int main(void) {
  struct stats stats = {0, 0, 1 << 30, -1};
  int log[200], logged = 0, other = 0;
#pragma omp parallel for schedule(static, 5)
  for (int i = 0; i < 200; i++) {
    int value = (i * 73 + 11) % 211;
#pragma omp critical
    {
      stats.count++;
      stats.sum += value;
      if (value < stats.smallest) stats.smallest = value;
      if (value > stats.largest) stats.largest = value;
    }
#pragma omp critical(log)
    log[logged++] = value;
#pragma omp critical(other)
    other ^= value;
  }
  long check = 0;
  for (int i = 0; i < logged; i++) check += (long)log[i] * log[i];
  printf("%ld %ld %d %d %d %ld %d\n", stats.count, stats.sum, stats.smallest, stats.largest, logged,
         check, other);
  return 0;
}
