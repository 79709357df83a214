// Pointers in an object whose method starts a region are read in front of its loops, although inner loops that may have
// no iterations guard them: the object is there, whatever the body does. Behind a pointer that may be null the run time
// is asked.
// RUN: clang++-22 -O2 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=tracked
#include <vector>

class Columns {
public:
  explicit Columns(int n) : n(n), u((unsigned long)n * n), v((unsigned long)n * n) {}
  __attribute__((noinline)) void down() {
// CHECK-DAG: behind-this.cpp:[[@LINE+1]]:1: remark: region declares all its accesses
#pragma omp parallel for
    for (int b = 0; b < (n + 15) / 16; b++) {
      int end = b * 16 + 16 < n ? b * 16 + 16 : n;
      for (int i = 1; i < n; i++)
        for (int j = b * 16; j < end; j++)
          u[i * n + j] = 0.5 * u[(i - 1) * n + j] + v[i * n + j];
    }
  }

private:
  int n;
  std::vector<double> u, v;
};

struct Pair {
  double *from, *to;
};

// CHECK-DAG: behind-this.cpp:[[@LINE+2]]:1: remark: region declares all its accesses
__attribute__((noinline)) void copy(const Pair *pair, int blocks, int n) {
#pragma omp parallel for
  for (int b = 0; b < blocks; b++)
    for (int i = b * 16; i < n; i++)
      pair->to[i] = pair->from[i];
}

int main(int argc, char **) {
  Columns columns(100 * argc);
  columns.down();
  copy(nullptr, argc, 0);
}
