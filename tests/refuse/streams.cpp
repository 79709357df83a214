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

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it reads std::cin, the standard input
void input(double *a) {
#pragma omp parallel
  std::cin >> a[0];
}

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it reads a C++ stream that may be a file
void from_file(std::istream &in, std::string &line) {
#pragma omp parallel
  std::getline(in, line);
}

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it gives a C++ stream another buffer or locale, in one process only
void exchange_buffer(std::ostringstream &text) {
#pragma omp parallel
  std::cout.rdbuf(text.rdbuf());
}

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it gives a C++ stream another buffer or locale, in one process only
void exchange_locale(std::ostream &out) {
#pragma omp parallel
  out.imbue(std::locale::classic());
}

// CHECK: streams.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it gives a C++ stream another buffer or locale, in one process only
void out_of_step() {
#pragma omp parallel
  std::ios::sync_with_stdio(false);
}

// CHECK-NOT: warning:
void fine(double *a) {
#pragma omp parallel
#pragma omp critical
  {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << a[0] << "x";
    std::istringstream numbers(text.str());
    numbers >> a[1] >> a[2];
    std::cout << text.str() << 3 << std::endl;
  }
}
