#include "counter.h"

void other_file() {
#pragma omp parallel for
  for (int i = 0; i < 64; i++) Registry::get().values[static_cast<std::size_t>(i)] += i;
  next_ticket();
  Shared<int>::count += 6;
}
