// A library with regions that the program loads while it runs: the job ends with one message, since the
// library's variables came too late to be shared. On one rank it is OpenMP's.
//
// RUN: clang-22 -O1 -g -fPIC -fopenmp -DLIBRARY -fpass-plugin=%plugin -mllvm -okl-target=mpi -shared %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.so
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMP_NUM_THREADS=3 %t %t.so | FileCheck --check-prefix=ONE %s
// ONE: 499500 3
// ONE: 999000 3
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.so > %t.log 2>&1
// RUN: (grep -e "^okl: " -e "^[0-9][0-9]*$" %t.log; echo the end) | FileCheck %s
//
// CHECK-NOT: {{^[0-9]}}
// CHECK: okl: rank 0: a library with {{.*}}loaded-library.c was loaded after the program started: its variables cannot be shared any more; link the library instead
// CHECK-NEXT: the end
#include <stdio.h>
#ifdef LIBRARY
#include <omp.h>
static int values[1000];
long work(int *threads) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += values[i] += i;
#pragma omp parallel
#pragma omp single
  *threads = omp_get_num_threads();
  return sum;
}
#else
#include <dlfcn.h>

int main(int argc, char **argv) {
  void *library = dlopen(argv[argc - 1], RTLD_NOW);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  long (*work)(int *) = (long (*)(int *))dlsym(library, "work");
  for (int turn = 0; turn < 2; turn++) {
    int threads = 0;
    long sum = work(&threads);
    printf("%ld %d\n", sum, threads);
  }
  return 0;
}
#endif
