// C++ streams: the standard output and string streams are fine, files and the standard input not.
// RUN: clang++-22 -O1 -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s
#include <fstream>
#include <iostream>
#include <sstream>

// CHECK: streams.cpp:[[# @LINE + 4]]:1: warning: {{.*}}it writes to a C++ stream that may be a file
void to_file(double *a) {
  std::ofstream out("out");
  out << a[1];
#pragma omp parallel
#pragma omp critical
  out << a[0] << '\n';
}

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it calls {{.*}}, which reads the standard input
void input(double *a) {
#pragma omp parallel
  std::cin >> a[0];
}

// CHECK-NOT: warning:
void fine(double *a) {
#pragma omp parallel
#pragma omp critical
  {
    std::ostringstream text;
    text << a[0] << "x";
    std::cout << text.str() << 3 << std::endl;
  }
}
