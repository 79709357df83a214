// A tile whose size or step turns out not to be positive ends the program, unless there are no iterations.
// RUN: for level in -O0 -O2; do clang++-22 -fopenmp -std=c++17 $level -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && OMP_NUM_THREADS=1 %t 0 4 1 && %t 8 4 2 && %t 0 0 0 && %t 8 4 2 unsigned || exit 1; for what in "8 0 1" "8 -4 1" "8 4 0" "8 4 -1" "8 4 -1 unsigned"; do (%t $what; test $? -ge 128) || exit 1; done; done
#include "okl.h"

#include <cstdlib>

KERNEL void tiled(int n, int size, int step, int *a) {
  for (TILE(0, "outer", "inner", 1) int i = SIZED(size, 0); i < n; i += step)
    a[i] = 1;
}

KERNEL void without_sign(unsigned n, int size, unsigned step, int *a) {
  for (TILE(0, "outer", "inner", 1) unsigned i = SIZED(size, 0); i < n; i += step)
    a[i] = 1;
}

int main(int count, char **arguments) {
  int a[8] = {}, n = atoi(arguments[1]), step = atoi(arguments[3]);
  count > 4 ? without_sign(n, atoi(arguments[2]), step, a) : tiled(n, atoi(arguments[2]), step, a);
  for (int i = 0; i < n; i++)
    if (a[i] != (i % step == 0))
      return 1;
}
