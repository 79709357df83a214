// At link time modules that went through the plugin when they were compiled stay as they are, and
// those that did not are translated.
// RUN: clang-22 -O1 -fPIC -fopenmp -flto -fpass-plugin=%plugin -c %s -o %t.1.o
// RUN: clang-22 -O1 -fPIC -fopenmp -flto -DSECOND -c %s -o %t.2.o
// RUN: clang-22 -O1 -flto -fuse-ld=lld -shared -Wl,--load-pass-plugin=%plugin %t.1.o %t.2.o -o %t.so
// RUN: nm %t.so | FileCheck %s
// CHECK-NOT: __kmpc_fork
// CHECK-DAG: U okl_mpi_fork
// CHECK-DAG: okl.register
// CHECK-DAG: okl.register.{{[0-9]+}}
// CHECK-NOT: __kmpc_fork
#ifdef SECOND
int second;
int g(void) {
#pragma omp parallel
#pragma omp atomic
  second++;
  return second;
}
#else
int first;
int f(void) {
#pragma omp parallel
#pragma omp atomic
  first++;
  return first;
}
#endif
