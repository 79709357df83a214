// Versions on ranks are for numbers that are there when a region begins: members of an object that lies beside what another
// rank has written come with what the region declares. An object that may be gone by then is not looked at, on one rank either.
//
// RUN: %okl-c++ -O3 -fopenmp --okl-jit %s -o %t && export OKL_JIT_CACHE=0 OMP_NUM_THREADS=2; OKL_JIT=0 %t > %t.0 && OKL_JIT=sync %t > %t.1 && cmp %t.0 %t.1
// RUN: export OKL_JIT_CACHE=0 OMP_NUM_THREADS=2; for mode in sync turns; do OKL_JIT=$mode mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.1 && cmp %t.0 %t.1 || exit 1; done
#include <cstdio>
#include <cstdlib>

struct Cells {
  int weight, count;
  double *values;
  void __attribute__((noinline)) step();
};

void Cells::step() {
#pragma omp parallel for
  for (int i = 0; i < count; i++)
    values[i] = values[i] * 0.5 + weight;
}

struct Large {
  int count;
  double rest[200000];
  void __attribute__((noinline)) add(bool is_last, double *to);
};

void Large::add(bool is_last, double *to) {
  if (is_last)
    free(this);
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    if (!is_last)
      for (int k = 0; k < count; k++)
        to[i] += k;
}

int main(int count, char **) {
  Cells cells;
  cells.weight = 2 + count;
  cells.count = 600 + count;
  cells.values = static_cast<double *>(calloc(cells.count, sizeof(double)));
  Cells *const behind = new Cells(cells);
  for (int step = 0; step < 6; step++) {
    (step % 2 ? *behind : cells).step();
    double sum = 0;
    for (int i = 0; i < cells.count; i++)
      sum += cells.values[i] * (i % 5 + 1);
    printf("%a\n", sum);
  }
  double to[100] = {};
  Large *const large = static_cast<Large *>(calloc(1, sizeof(Large)));
  large->count = 4 + count;
  for (int step = 0; step < 5; step++)
    large->add(step == 4, to);
  printf("%a\n", to[7]);
}
