// Every optimisation level, with and without debug information; the module verifies (the plugin
// checks it) and the object has all it needs.
// RUN: for level in 0 1 2 3; do for debug in '' -g; do clang++-22 -O$level $debug -fopenmp -fpass-plugin=%plugin -c %s -o %t.$level$debug.o || exit 1; done; done
// RUN: clang++-22 -O2 -fopenmp -fno-discard-value-names -fpass-plugin=%plugin -c %s -o %t.names.o
// RUN: clang++-22 -O2 -flto=thin -fopenmp -fpass-plugin=%plugin -c %s -o %t.thin.o
// RUN: nm -u %t.0.o %t.3-g.o %t.names.o | FileCheck %s
// CHECK-NOT: __kmpc_fork
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

thread_local std::string name = "none";
static std::map<std::string, int> table{{"a", 1}};

template <class T> struct Field {
  virtual ~Field() = default;
  virtual T at(int i) const { return values[i]; }
  std::vector<T> values;
};

int main() {
  auto field = std::make_shared<Field<double>>();
  field->values.resize(100);
  double sum = 0;
  try {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      sum += field->at(i) + table["a"];
#pragma omp critical
      name += std::to_string(i);
    }
  } catch (const std::exception &error) {
    std::cerr << error.what();
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
    field->values[i] = i;
  }
  std::cout << sum << '\n';
}
