// An object that was not compiled with the plugin and forks OpenMP threads itself is reported before
// the program runs.
//
// RUN: clang-22 -O1 -fopenmp -DLIBRARY -c %s -o %t.library.o
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s %t.library.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
//
// CHECK: contains OpenMP regions that were not compiled with okl (it calls __kmpc_fork_call): compile all of the program's sources with the plugin, and OKL kernels with --okl-target=mpi
void scale(double *, int);

#ifdef LIBRARY
void scale(double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] *= 2;
}
#else
double values[100];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) values[i] = i;
  scale(values, 100);
  return 0;
}
#endif
