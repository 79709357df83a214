// Functions of a program's own whose names begin like OpenMP's: a file that has no OpenMP is left alone.
// RUN: clang-22 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// CHECK-DAG: @okl.left_alone{{.*}}section "okl_left_alone"
// CHECK-DAG: call i32 @omp_sum(
// CHECK-DAG: declare i32 @omp_sum(
// CHECK-NOT: okl_mpi
// One that calls OpenMP's is not, nor is one that calls what only a compiler does.
// RUN: clang-22 -DOPENMP -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --check-prefix=OPENMP
// RUN: clang-22 -DCOMPILER -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --check-prefix=OPENMP
// OPENMP-NOT: okl.left_alone
// OPENMP: @okl_mpi_register
int omp_sum(int a, int b);
int ompc_sum(int a);
int omp_get_num_threads(void);
int __kmpc_global_thread_num(void *place);

int f(int a) {
#ifdef OPENMP
  a += omp_get_num_threads();
#endif
#ifdef COMPILER
  a += __kmpc_global_thread_num(0);
#endif
  return omp_sum(a, ompc_sum(a));
}
