// An installation in a folder of its own: its drivers, a CMake project with find_package(okl) and plain
// clang, pkg-config.
//
// REQUIRES: cmake pkg-config
// RUN: split-file %s %t.d
// RUN: %S/../../scripts/install --prefix %t.okl --from %runtime-dir && ls %t.okl/* | FileCheck --check-prefix=FILES %s
// FILES-LABEL: bin:
// FILES-NEXT: okl-c++
// FILES-NEXT: okl-cc
// FILES-NEXT: okl-fc
// FILES-NEXT: okl-run
// FILES-LABEL: include:
// FILES-NEXT: okl
// FILES-LABEL: lib:
// FILES-NEXT: cmake
// FILES-NEXT: libokl_cpu.so
// FILES-NEXT: libokl_gpu.so
// FILES-NEXT: libokl_jit.so
// FILES-NEXT: libokl_job_mpi.so
// FILES-NEXT: libokl_mpi.so
// FILES-NEXT: libokl_op2.so
// FILES-NEXT: libokl_pass.so
// FILES-NEXT: libokl_ptx_machine.so
// FILES-NEXT: okl-jit-worker
// FILES-NEXT: okl-link
// FILES-NEXT: pkgconfig
// RUN: %t.okl/bin/okl-c++ --okl-show -c a.cpp | FileCheck --check-prefix=SHOWN %s
// SHOWN: clang++-22 {{.*}} -idirafter {{.*}}t.okl/include/okl/op2 -idirafter {{.*}}t.okl/include/okl/okl -fpass-plugin={{.*}}t.okl/lib/libokl_pass.so
// RUN: mkdir %t.bin && ln -s %t.okl/bin/okl-cc %t.bin && cd %t.d && %t.bin/okl-cc -O1 -fopenmp main.c sum.c -o prog && %t.okl/bin/okl-run -n 2 ./prog | FileCheck %s
//
// RUN: CC=clang-22 CXX=clang++-22 cmake -S %t.d -B %t.b -DCMAKE_PREFIX_PATH=%t.okl >%t.log 2>&1 && cmake --build %t.b >>%t.log 2>&1 || (cat %t.log; false)
// RUN: readelf -d %t.b/prog | FileCheck --check-prefix=NEEDED %s && %launch -n 2 %t.b/prog | FileCheck %s
// NEEDED: [libokl_mpi.so]
// NEEDED-NOT: [libokl_op2.so]
// NEEDED-NOT: [libokl_cpu.so]
// NEEDED-NOT: [libokl_gpu.so]
// RUN: (CC=cc CXX=c++ cmake -S %t.d -B %t.c -DCMAKE_PREFIX_PATH=%t.okl; echo) 2>&1 | tr -s ' \n' ' ' | FileCheck --check-prefix=OTHER %s
// OTHER: okl is a plugin of clang 22, and the C compiler is {{.*}}: set CMAKE_C_COMPILER to clang 22, or to okl's own driver in {{.*}}t.okl/bin
//
// RUN: cd %t.d && export PKG_CONFIG_PATH=%t.okl/lib/pkgconfig && clang-22 -O1 -fopenmp $(pkg-config --cflags okl) main.c sum.c $(pkg-config --libs okl) -o configured && %launch -n 2 ./configured | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- CMakeLists.txt
cmake_minimum_required(VERSION 3.20)
project(sums C CXX)
find_package(OpenMP REQUIRED)
find_package(okl 0.1 REQUIRED)
add_library(sum STATIC sum.c)
target_link_libraries(sum PRIVATE OpenMP::OpenMP_C okl::okl)
add_executable(prog main.c)
target_link_libraries(prog sum OpenMP::OpenMP_C okl::okl)

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
