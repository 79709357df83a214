// Static variables of inline functions and templates are one across source files.
// threads: any
#include "counter.h"
#include <cstdio>

int main() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 50; i++) sum += Registry::get().value(i);
  other_file();
  next_ticket();
  std::printf("%d %d %d %d\n", sum, next_ticket(), Registry::get().value(3), Shared<int>::count);
}
