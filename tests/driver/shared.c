// A shared library has its own dependency and way to the run-time library; the program around it may be any.
//
// RUN: split-file %s %t.d
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -fPIC -shared -Wl,-z,defs sum.c -o libsum.so && readelf -d libsum.so | FileCheck --check-prefix=NEEDED %s
// NEEDED-DAG: [libokl_mpi.so]
// NEEDED-DAG: runpath: [/
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp main.c -L. -lsum -Wl,-rpath,. -o prog && %launch -n 2 ./prog | FileCheck %s
// Link-time optimisation: what the plugin does is in the objects.
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -flto -c main.c && %okl-cc -Werror -O1 -fopenmp -flto -c sum.c && %okl-cc -Werror -O1 -fopenmp -flto -fuse-ld=lld main.o sum.o -o merged && %launch -n 2 ./merged | FileCheck %s
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -flto=thin -fuse-ld=lld main.c sum.c -o thin && %launch -n 2 ./thin | FileCheck %s
// Intermediate files do not change it.
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -save-temps main.c sum.c -o saved && %launch -n 2 ./saved | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- sum.c
#include <omp.h>

int sum(int n, int *threads) {
  int total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 1; i <= n; i++) {
    total += i;
    if (i == n) *threads = omp_get_num_threads();
  }
  return total;
}

//--- main.c
#include <stdio.h>

int sum(int n, int *threads);

int main(void) {
  int threads = 0;
  int total = sum(100, &threads);
  printf("%d threads, sum %d\n", threads, total);
  return 0;
}
