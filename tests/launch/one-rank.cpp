// On one rank a program is plain OpenMP. Functions of a header that two files have, at different levels and with a
// library in between, behave as one; nothing is restarted and no MPI is started; text at most doubles.
//
// RUN: clang++-22 -O0 -fopenmp -fpass-plugin=%plugin -DFIRST -c %s -o %t.1.o
// RUN: clang++-22 -O2 -g -fopenmp -fpass-plugin=%plugin -DSECOND -c %s -o %t.2.o
// RUN: clang++-22 -O2 -fPIC -fopenmp -fpass-plugin=%plugin -DPART -c %s -o %t.3.o
// RUN: clang++-22 -shared -fopenmp %t.3.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.so
// RUN: clang++-22 -fopenmp %t.1.o %t.2.o %t.so -Wl,-rpath,/ -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -ldl -o %t
// RUN: clang++-22 -fopenmp %t.2.o %t.1.o %t.so -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.other-order
// RUN: env OMP_NUM_THREADS=3 %t %t.so | FileCheck %s
// RUN: env OMP_NUM_THREADS=3 %t.other-order %t.so | FileCheck %s
// RUN: env OMP_NUM_THREADS=3 mpirun --allow-run-as-root --oversubscribe -n 1 %t %t.so | FileCheck %s
// RUN: mpirun --allow-run-as-root --oversubscribe --bind-to none -n 3 %t %t.so | FileCheck --check-prefix=RANKS %s
// RUN: env OKL_BACKEND=mpi %t %t.so | FileCheck --check-prefix=JOB %s
// RUN: env OKL_STATS=1 %t %t.so 2>&1 | FileCheck --check-prefix=STATS %s
// RUN: not env OKL_BACKEND=seq %t 2>&1 | FileCheck --check-prefix=BACKEND %s
// RUN: not env OKL_BACKEND=cpu mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=SEVERAL %s
// RUN: clang++-22 -O2 -flto=thin -fuse-ld=lld -fopenmp -fpass-plugin=%plugin -DFIRST -c %s -o %t.1.o
// RUN: clang++-22 -O2 -flto=thin -fuse-ld=lld -fopenmp -fpass-plugin=%plugin -DSECOND -c %s -o %t.2.o
// RUN: clang++-22 -O2 -flto=thin -fuse-ld=lld -fopenmp %t.1.o %t.2.o %t.so -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.lto
// RUN: env OMP_NUM_THREADS=3 %t.lto %t.so | FileCheck %s
// RUN: mpirun --allow-run-as-root --oversubscribe --bind-to none -n 3 %t.lto %t.so | FileCheck --check-prefix=RANKS %s
//
// CHECK: 3 threads, 60 counted, 9 copied, 6 in the library, addresses are the same
// CHECK-NEXT: randomised as it was, progress of MPI: 0
// RANKS: 3 threads, 60 counted, 9 copied, 6 in the library, addresses are the same
// JOB: 1 threads, 60 counted, 3 copied, 2 in the library, addresses are the same
// JOB-NEXT: {{.*}}progress of MPI: 1
// STATS: okl: the program runs on one rank, as plain OpenMP: there is nothing to tell of ranks (OKL_BACKEND=mpi runs it as a job of one rank)
// BACKEND: okl: rank 0: OKL_BACKEND=seq: valid values for an OpenMP program are cpu and mpi
// SEVERAL: OKL_BACKEND=cpu runs the program on one rank, and the launcher has started 2 (OMPI_COMM_WORLD_SIZE)
#include <omp.h>

template <class T> T &counter() {
  static T value;
  return value;
}
template <class T> __attribute__((noinline)) void count(T n) {
#pragma omp atomic
  counter<T>() += n;
}
extern int own;
#pragma omp threadprivate(own)
using Count = void (*)(int);

#ifdef FIRST
Count address() { return count<int>; }
void count_ten() {
#pragma omp parallel for
  for (int i = 0; i < 10; i++) count(2);
}
#elif defined SECOND
#include <cstdio>
#include <cstdlib>
#include <sys/personality.h>
#include <dlfcn.h>

int own = 1;
Count address();
void count_ten();
int threads_in_part();

int main() {
  count_ten();
#pragma omp parallel for
  for (int i = 0; i < 20; i++) count(2);
  own = 3;
  int copied = 0, threads = 0;
#pragma omp parallel copyin(own) reduction(+ : copied)
  {
    copied += own;
#pragma omp single
    threads = omp_get_num_threads();
  }
  Count here = count<int>;
  std::printf("%d threads, %d counted, %d copied, %d in the library, addresses are %s\n", threads, counter<int>(), copied,
              threads_in_part(), here == address() ? "the same" : "others");
  int is_started = 0;
  using Initialized = int (*)(int *);
  if (auto initialized = reinterpret_cast<Initialized>(dlsym(RTLD_DEFAULT, "MPI_Initialized"))) initialized(&is_started);
  const char *randomised = personality(0xffffffff) & ADDR_NO_RANDOMIZE ? "not randomised" : "randomised as it was";
  std::printf("%s, progress of MPI: %d\n", randomised, is_started);
  return 0;
}
#else
static int parts;
int threads_in_part() {
#pragma omp parallel
#pragma omp atomic
  parts += 2;
  return parts;
}
#endif
