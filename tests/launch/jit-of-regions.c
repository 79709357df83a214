// Regions that are compiled once more while the program runs: results are those of the code as it was compiled ahead of time,
// bit for bit, whichever values it has, on one thread and on several, in regions inside regions, and with critical sections,
// atomic accesses and reductions. Where the order of a sum is the compiler's to choose there are no versions.
//
// RUN: %okl-cc -O3 -fopenmp --okl-target=cpu --okl-jit %s -o %t
// RUN: OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 OMP_NUM_THREADS=1 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck %s < %t.told
// RUN: OKL_JIT=0 OMP_NUM_THREADS=3 %t > %t.0 && OKL_JIT=sync OMP_NUM_THREADS=3 %t > %t.sync && cmp %t.0 %t.sync
// RUN: OKL_JIT=1 OMP_NUM_THREADS=3 %t > %t.1 && cmp %t.0 %t.1
// RUN: OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=turns OKL_STATS=1 OMP_NUM_THREADS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck --check-prefix=TURNS %s < %t.told
// A program for ranks has versions, too, as one process, and each rank has its own as several. What one rank tells another of,
// such as the functions of tasks, is the program's.
// RUN: %okl-cc -O2 -march=haswell -fopenmp --okl-jit %s -o %t
// RUN: OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 OMP_NUM_THREADS=1 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck %s < %t.told
// RUN: OKL_JIT=sync OKL_STATS=1 OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck --check-prefixes=CHECK,RANKS %s < %t.told
// RUN: OKL_JIT=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 3 %t > %t.1 && cmp %t.0 %t.1
//
// TURNS:      okl: versions of smooth
// TURNS:      okl:   [[# VALUES:]] values: made in {{.*}} ms
// TURNS-NEXT: okl:   [[# VALUES]] values, not for how often loops run: made in {{.*}} ms, {{[1-9]}}
// TURNS-NEXT: okl:   [[# VALUES]] values, in part for how often loops run: made in {{.*}} ms
// CHECK-DAG: okl: versions of smooth.omp_outlined{{.*}}: 18 calls
// CHECK-DAG: okl: versions of writes.omp_outlined{{.*}}: 6 calls
// CHECK-DAG: okl: versions of counts.omp_outlined{{.*}}: 6 calls
// CHECK-DAG: okl: versions of most.omp_outlined{{.*}}: 6 calls
// CHECK-DAG: okl: versions of of_threads.omp_outlined{{.*}}: 6 calls
// RANKS-DAG: okl: versions of tasks.omp_outlined{{.*}}: 6 calls
// CHECK-NOT: failed
// CHECK-NOT: versions of vector
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 3000 };

static int hidden = 3;
int shown = 4;
double *from, *to;
static int *where = &shown;

void set(int value) { hidden = value; }

void smooth(double factor) {
  double weights[4];
  for (int k = 0; k < 4; k++)
    weights[k] = factor / (k + 3);
#pragma omp parallel for
  for (int i = shown; i < COUNT - shown; i++) {
    double sum = 0;
    for (int k = 0; k < hidden; k++)
      sum += weights[k % 4] * from[i + k - 1] + factor;
    to[i] = sum / factor;
  }
}

// Another name of what is read.
void writes(void) {
  int *variable = where;
#pragma omp parallel
  {
#pragma omp single
    *variable = *variable % 7 + 1;
#pragma omp for
    for (int i = 0; i < COUNT; i++)
      to[i] = from[i] * shown;
  }
}

int counts(double limit) {
  int found = 0;
#pragma omp parallel for reduction(+ : found)
  for (int i = 0; i < COUNT; i++)
    if (from[i] > limit && to[i] < limit)
      found++;
  return found;
}

double most(void) {
  double largest = 0;
  int power = hidden;
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++) {
    double x = from[i];
    for (int n = 1; n < power; n++)
      x *= from[i];
#pragma omp critical
    if (x > largest)
      largest = x;
  }
  return largest;
}

void nested(int parts) {
#pragma omp parallel num_threads(2)
  {
    int mine = parts;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 64; i++)
#pragma omp atomic
      from[i % parts] += mine;
  }
}

int tasks(int parts) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
#pragma omp single
  for (int part = 0; part < parts; part++)
#pragma omp task
    for (int i = part; i < COUNT; i += parts)
      to[i] += from[i] * part;
  for (int i = 0; i < COUNT; i++)
    count += to[i] > 0.5;
  return count;
}

double vector(void) {
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < COUNT; i++)
    sum += from[i] / 3;
  return sum;
}

// Variables of which each thread has its own.
static double weight;
#pragma omp threadprivate(weight)
static _Thread_local int mine;

int of_threads(double start) {
  int all = 0;
  weight = start;
#pragma omp parallel copyin(weight) reduction(+ : all)
  {
    mine = 0;
#pragma omp for
    for (int i = 0; i < COUNT; i++) {
      mine++;
      weight += i == 0 ? 0 : 1;
      to[i] = from[i] * (weight - 1);
      weight = start;
    }
    all += mine;
  }
  return all;
}

int main(void) {
  from = malloc(COUNT * sizeof *from), to = malloc(COUNT * sizeof *to);
  for (int i = 0; i < COUNT; i++)
    from[i] = 1.0 / (i % 13 + 1), to[i] = 0;
  for (int n = 0; n < 6; n++) {
    smooth(0.7), writes(), smooth(1.1 + n / 2);
    set(2 + n % 4);
    smooth(0.7), nested(5 + n / 2);
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
      sum += to[i];
    printf("%a %a %d %d\n", sum, most(), counts(0.2), shown);
    printf("%.9f %d\n", vector(), tasks(3 + n / 3));
    printf("%d %a\n", of_threads(1.5 + n / 3), to[COUNT - 1]);
  }
}
