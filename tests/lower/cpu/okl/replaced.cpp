// What a function does to a variable is not known where another file may replace it.
// RUN: for level in "-O0" "-O1" "-O3 -march=native"; do clang++-22 -std=c++17 $level -DELSEWHERE -c %s -o %t.o && clang++-22 -std=c++17 $level -fopenmp -fpass-plugin=%plugin %s %t.o -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t || exit 1; for threads in 1 3; do OMP_NUM_THREADS=$threads %t || exit 1; done; done
#ifdef ELSEWHERE
void change(int *number) { *number -= 30; }
#else
#include "okl.h"

#include <cstdio>

__attribute__((weak, noinline)) void change(int *) {}

KERNEL void changed(int n, int *b) {
  for (OUTER int o = 0; o < 4; ++o) {
    int limit = n;
    change(&limit);
    for (INNER int i = 0; i < 16; ++i) {
      int number = i;
      change(&number);
      if (o * 16 + i < limit) b[o * 16 + i] = number;
    }
  }
}

int main() {
  int b[64] = {};
  changed(40, b);
  for (int i = 0; i < 64; i++) {
    const int expected = i < 10 ? i - 30 : 0;
    if (b[i] != expected) {
      std::printf("%d: %d, not %d\n", i, b[i], expected);
      return 1;
    }
  }
}
#endif
