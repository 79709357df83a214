// Arrays of which the linker takes another file's definition, with that one's alignment; and one that asks for
// more than a page.
// threads: any
#include <cstdint>
#include <cstdio>

#include "arrays.h"

double big[100000];
alignas(65536) double wide[9000];

int main() {
  int n = 64;
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) big[i] = i;
#pragma omp parallel for
  for (int i = 0; i < 9000; i++) wide[i] = 2 * big[i];
  for (int i = 0; i < 64; i++) table.v[i] += big[n];
  for (int i = 0; i < 256; i++) Buffer<int>::data[i] += big[i];
  int sum = 0;
  for (int i = 0; i < 64; i++) sum += table.v[i] + Buffer<int>::data[4 * i];
  double *volatile start = wide;
  std::printf("%d %d %d %g\n", elsewhere() == table.v, sum, int(std::uintptr_t(start) % 65536), wide[8999]);
  return 0;
}
