// A makefile that knows nothing of okl, with nothing but CC and CXX: flags that the linker gets as well, a
// static library in C, a program in C++ that is linked without -fopenmp.
//
// RUN: split-file %s %t.d
// RUN: make -C %t.d CC=%okl-cc CXX=%okl-c++ 2>&1 | FileCheck --check-prefix=QUIET --allow-empty %s
// QUIET-NOT: warning
// RUN: %launch -n 2 %t.d/prog | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- Makefile
CFLAGS = -O1 -fopenmp -Wall
CXXFLAGS = $(CFLAGS)

prog: main.o libsum.a
	$(CXX) -O1 -Wall -MMD main.o libsum.a -lm -o $@
libsum.a: sum.o
	$(AR) rcs $@ $^

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
