// CMake finds OpenMP and builds a program with nothing but CC and CXX. What it takes for libraries that the
// compiler links always has none of okl's.
//
// REQUIRES: cmake
// RUN: split-file %s %t.d
// RUN: CC=%okl-cc CXX=%okl-c++ cmake -S %t.d -B %t.b >%t.log 2>&1 || (cat %t.log; false)
// RUN: FileCheck --check-prefix=FOUND %s <%t.log && cat %t.b/CMakeFiles/*/CMakeCXXCompiler.cmake | FileCheck --check-prefix=LIBRARIES %s
// FOUND: Found OpenMP_CXX: -fopenmp
// LIBRARIES: set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES
// LIBRARIES-NOT: okl
// RUN: cmake --build %t.b >%t.log 2>&1 || (cat %t.log; false)
// RUN: %launch -n 2 %t.b/prog | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- CMakeLists.txt
cmake_minimum_required(VERSION 3.20)
project(sums C CXX)
find_package(OpenMP REQUIRED)
add_library(sum SHARED sum.c)
target_link_libraries(sum PRIVATE OpenMP::OpenMP_C)
add_executable(prog main.cpp)
target_link_libraries(prog sum OpenMP::OpenMP_CXX)

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

//--- main.cpp
#include <iostream>

extern "C" int sum(int n, int *threads);

int main() {
  int threads = 0;
  int total = sum(100, &threads);
  std::cout << threads << " threads, sum " << total << "\n";
}
