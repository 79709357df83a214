// An exception that leaves a region ends the job, as it ends an OpenMP program.
// reference: none
// ranks: 1 3
// opt: -O2
// limit: 20
// expect-exit: failure
// expect-stderr: terminate
#include <cstdio>
#include <stdexcept>

int main() {
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    if (i == 99) throw std::runtime_error("left the region");
  std::printf("not reached\n");
}
