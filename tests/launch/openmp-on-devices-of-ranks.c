// OpenMP loops give on the devices of ranks what they give on threads, and each rank launches kernels: Jacobi in a time loop,
// reductions, all schedules, a gather, arrays of all kinds. A process that is the whole program does so, too. Devices keep
// what nobody has changed. The device is emulated: the PTX of the object is executed, and checked.
//
// RUN: for level in "-O0 -g" "-O3"; do %okl-cc $level -w -fopenmp --okl-target=mpi+cuda,cpu %s -o %t -lm && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated %t > %t.one && \
// RUN:   cmp %t.threads %t.one && for ranks in 1 2 3 4; do \
// RUN:   OKL_STATS=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $ranks %t > %t.ranks 2> %t.table && \
// RUN:   cmp %t.threads %t.ranks || exit 1; done || exit 1; done
// RUN: FileCheck --check-prefix=TABLE %s < %t.table
// RUN: OKL_BACKEND=mpi mpirun --allow-run-as-root --oversubscribe -n 2 %t | cmp %t.threads -
// RUN: OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t | cmp %t.threads -
// RUN: OKL_RANKS_PER_NODE=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t | cmp %t.threads -
// RUN: not env OKL_BACKEND=cuda mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=NONE %s
// Each rank has versions of its kernels, which give the same.
// RUN: %okl-cc -O3 -w -fopenmp --okl-jit --okl-target=mpi+cuda,cpu %s -o %t -lm && export OKL_BACKEND=cuda-emulated OKL_JIT_CACHE=0; \
// RUN:   OKL_JIT=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.ranks && \
// RUN:   OKL_STATS=1 OKL_JIT=sync mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.jit 2> %t.table && cmp %t.ranks %t.jit && \
// RUN:   FileCheck --check-prefix=JIT %s < %t.table
// JIT: okl: versions of jacobi on a CUDA device, {{.*}}: 20 calls
// JIT-NEXT: values: made in
//
// Of twenty sweeps, in which two arrays of 0.147 megabytes are read and written in full, each brings its part to the device once,
// and then what the other ranks have changed of its neighbours; its own part comes back.
// TABLE: okl: kernels on okl PTX machine sm_90, rank 0
// TABLE: jacobi 20 {{[0-9.]+}} 0.0{{[5-8][0-9]}} 0.3{{[56][0-9]}}
// TABLE: several 6
// TABLE: okl: kernels on okl PTX machine sm_90, rank 1
// TABLE: jacobi 20 {{[0-9.]+}} 0.0{{[5-8][0-9]}} 0.3{{[56][0-9]}}
// TABLE: several 6
// TABLE: okl: kernels on okl PTX machine sm_90, rank 2
// TABLE: jacobi 20 {{[0-9.]+}} 0.0{{[5-8][0-9]}} 0.3{{[56][0-9]}}
// TABLE: several 6
// TABLE: okl: kernels on okl PTX machine sm_90, rank 3
// TABLE: jacobi 20 {{[0-9.]+}} 0.0{{[5-8][0-9]}} 0.3{{[56][0-9]}}
// TABLE: several 6
// NONE: okl: rank {{[01]}}: {{.*}}: kernel {{.*}}: there is no CUDA ({{.*}}): install NVIDIA's driver, or run without a device with OKL_BACKEND=cuda-emulated
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 96, STEPS = 20, N = 5000 };
static double table[N];
static int places[N];
struct grid {
  int nx, ny;
  double h;
};

static void jacobi(void) {
  double *now = malloc(SIDE * SIDE * sizeof *now), *next = malloc(SIDE * SIDE * sizeof *next), most = 0;
  for (int i = 0; i < SIDE * SIDE; i++) now[i] = next[i] = i % SIDE == 0;
  for (int step = 0; step < STEPS; step++) {
    most = 0;
#pragma omp parallel for reduction(max : most)
    for (int y = 1; y < SIDE - 1; y++)
      for (int x = 1; x < SIDE - 1; x++) {
        double one = 0.25 * (now[y * SIDE + x - 1] + now[y * SIDE + x + 1] + now[(y - 1) * SIDE + x] + now[(y + 1) * SIDE + x]);
        most = fmax(most, fabs(one - now[y * SIDE + x]));
        next[y * SIDE + x] = one;
      }
    double *other = now;
    now = next;
    next = other;
  }
  double sum = 0;
  for (int i = 0; i < SIDE * SIDE; i++) sum += now[i] * (i % 7);
  printf("jacobi: %.17g %.17g\n", most, sum);
  free(now);
  free(next);
}

static void gather(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    table[i] = 0.5 * i;
    places[i] = (i * 7919) % N;
  }
  double *gathered = malloc(N * sizeof *gathered), sum = 0, most = -1;
  long all = 0;
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < N; i++) gathered[i] = table[places[i]] + 1;
#pragma omp parallel for reduction(+ : sum) reduction(max : most) schedule(guided, 5)
  for (int i = 0; i < N; i++) {
    sum += gathered[i];
    most = fmax(most, gathered[i]);
  }
#pragma omp parallel for reduction(^ : all) schedule(dynamic, 7)
  for (int i = 0; i < N; i++) all ^= (long)gathered[i] * i;
  printf("gather: %.17g %.17g %ld\n", sum, most, all);
  free(gathered);
}

// Arrays on the stack of rank 0, and small blocks that lie side by side.
static void small(void) {
  float local[333];
  struct grid box = {40, 30, 0.25};
#pragma omp parallel for
  for (int i = 0; i < 333; i++) local[i] = i * box.h + box.nx;
  double sum = 0;
  for (int i = 0; i < 333; i++) sum += local[i];
  short *a = malloc(50 * sizeof *a), *b = malloc(50 * sizeof *b), *c = malloc(50 * sizeof *c);
  for (int i = 0; i < 50; i++) a[i] = b[i] = c[i] = i;
#pragma omp parallel for
  for (int i = 49; i >= 0; i--) b[i] = a[i] * 3;
#pragma omp parallel for schedule(dynamic)
  for (unsigned long i = 1; i < 50; i += 3) c[i] = b[i] + a[i - 1];
  for (int i = 0; i < 50; i++) sum += a[i] + 2 * b[i] + 3 * c[i];
  printf("small: %.17g\n", sum);
  free(a);
  free(b);
  free(c);
}

// The last iteration, loops of few iterations and of none.
static void ends(void) {
  double(*matrix)[70] = malloc(60 * sizeof *matrix);
  int shift = 3, row = -1;
#pragma omp parallel for collapse(2) firstprivate(shift) lastprivate(row)
  for (int y = 0; y < 60; y++)
    for (int x = 0; x < 70; x++) {
      matrix[y][x] = y * shift + x;
      row = y * 100 + x;
    }
  for (int n = 0; n < 5; n++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) matrix[i][i] += n;
  }
  double sum = 0;
  for (int y = 0; y < 60; y++)
    for (int x = 0; x < 70; x++) sum += matrix[y][x] * (x % 5);
  printf("ends: %.17g %d\n", sum, row);
  free(matrix);
}

// Regions of several loops in turns of a loop, with code for one thread between them, and numbers that all of them combine.
static void several(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), sum = 0, scale = 1;
  int turns = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) {
      a[i] = i % 9;
      b[i] = 0;
    }
    for (int turn = 0; turn < 6; turn++) {
#pragma omp for
      for (int i = 1; i < N - 1; i++) b[i] = scale * (a[i - 1] + a[i + 1]) / 2;
#pragma omp single
      {
        scale = 1 - scale / 8;
        turns++;
      }
#pragma omp for schedule(static, 16)
      for (int i = 1; i < N - 1; i++) a[i] = b[i] + turn;
    }
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += (long)(4 * a[i]);
  }
  printf("several: %.17g %.17g %d\n", sum, scale, turns);
  free(a);
  free(b);
}

int main(void) {
  jacobi();
  several();
  gather();
  small();
  ends();
}
