// Exceptions pass through versions, and handlers begin regions; where that cannot be, versions are not made, and the program says
// so with OKL_STATS=1.
//
// RUN: %okl-c++ -O1 -DELSEWHERE -c %s -o %t.o
// RUN: for link in "" -no-pie -static-libstdc++; do %okl-c++ -O3 -fopenmp --okl-target=cpu --okl-jit $link %s %t.o -o %t && export OMP_NUM_THREADS=1 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck %s < %t.told || exit 1; done
// Who has another unwinder in the program cannot be told of new code:
// RUN: %okl-c++ -O3 -fopenmp --okl-target=cpu --okl-jit -static-libgcc -static-libstdc++ %s %t.o -o %t && export OMP_NUM_THREADS=1 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck --check-prefix=OWN %s < %t.told
// A library whose constructor runs regions, and may end the program, holds the loader's lock meanwhile:
// RUN: %okl-c++ -O3 -fopenmp --okl-target=cpu --okl-jit -DLIBRARY -fPIC -shared %s -o %t.so && %okl-c++ -O1 -DOPENS %s -o %t.opens && export OMP_NUM_THREADS=1 && OKL_JIT=0 %t.opens %t.so > %t.0 && OKL_JIT=sync %t.opens %t.so > %t.1 && cmp %t.0 %t.1 && FileCheck --check-prefix=LOADED %s < %t.0 && export ENDS=1 && for way in 0 1; do status=0; OKL_JIT=$way %t.opens %t.so > %t.0 || status=$?; test $status = 5 || exit 1; done
// The program may end while a version is made for another thread than the first one:
// RUN: %okl-c++ -O3 -fopenmp --okl-target=cpu --okl-jit -DTHREADS %s -o %t && for after in 0 10000 20000 30000 40000; do OMP_NUM_THREADS=1 OKL_JIT=1 %t $after || exit 1; done
// The first thread may leave the program, which ends with the last one of its own:
// RUN: for way in 1 sync; do OMP_NUM_THREADS=1 OKL_JIT=$way timeout 30 %t 0 leaves || exit 1; done
//
// CHECK:      okl: versions of run
// CHECK-NEXT: made in
// CHECK:      okl: versions of Guard::~Guard
// CHECK-NOT:  failed
// OWN:     okl: versions of run
// OWN-NEXT: warning: failed: exceptions may pass through it, and libgcc_s.so does not unwind the program's (-static-libgcc, or another library)
// LOADED: constructed -25
// LOADED-NEXT: opened
#include <cstdio>
#include <cstdlib>

#if defined ELSEWHERE
#include <sys/mman.h>
struct Solver;
int odd(int i) {
  if (i % 2)
    throw i;
  return i;
}
[[noreturn]] void fail(Solver *solver) {
  munmap(solver, 4096);
  throw 3;
}
#elif defined OPENS
#include <dlfcn.h>
int main(int, char **argv) {
  puts(dlopen(argv[1], RTLD_NOW) ? "opened" : dlerror());
}
#elif defined LIBRARY
static int out[8];
static void __attribute__((noinline)) run(int n, int by) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    out[i] -= i * by;
}
static struct Constructed {
  Constructed() {
    for (int k = 0; k < 5; k++)
      run(8, 1);
    printf("constructed %d\n", out[5]);
    if (getenv("ENDS"))
      exit(5);
  }
} constructed;
#elif defined THREADS
#include <pthread.h>
#include <thread>
#include <unistd.h>
static double out[64];
static void __attribute__((noinline)) run(double *o, int n, int m) {
#pragma omp parallel for num_threads(1)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      o[i] = o[i] * 0.5 + k;
}
int main(int count, char **argv) {
  std::thread other([count] {
    if (count > 2)
      usleep(100000);
    for (int k = 0; k < 4; k++)
      run(out, 64, 5);
  });
  if (count > 2) {
    other.detach();
    pthread_exit(nullptr);
  }
  other.join();
  usleep(atoi(argv[1]));
}
#else
#include <sys/mman.h>
struct Solver {
  int number;
  char more[60];
};
int odd(int i);
[[noreturn]] void fail(Solver *solver);

static void __attribute__((noinline)) run(int *out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    try {
      out[i] += odd(i);
    } catch (int value) {
      out[i] -= value;
    }
}

// Runs a region behind what may have taken the object away, which that reads in other calls.
struct Guard {
  Solver &solver;
  double *out;
  int some;
  __attribute__((always_inline)) ~Guard() {
    Solver *one = &solver;
    double *o = out;
    int n = some;
#pragma omp parallel for firstprivate(o, n, one)
    for (int i = 0; i < 8; i++)
      if (i < n)
        o[i] += one->number;
      else
        o[i] += 2;
  }
};
static void __attribute__((noinline)) work(Solver &solver, double *out, int some) {
  Guard guard{solver, out, some};
  if (!some)
    fail(&solver);
}

int main() {
  static int sums[8];
  for (int k = 0; k < 8; k++)
    run(sums, 8);
  printf("%d %d\n", sums[4], sums[5]);
  static double out[8];
  for (int k = 0; k < 8; k++) {
    auto solver = static_cast<Solver *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    solver->number = 5;
    try {
      work(*solver, out, k % 2 ? 8 : 0);
    } catch (int value) {
      out[0] += value;
    }
  }
  printf("%g %g\n", out[0], out[5]);
}
#endif
