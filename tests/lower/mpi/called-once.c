// A function that only a function with two versions calls has two as well: called once in each, it is inlined into
// both whatever its size, as into the OpenMP program. With one, it would be called twice and stay a call.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not='define {{.*}}@large' --implicit-check-not='call {{.*}}@large'
// CHECK-DAG: define {{.*}}@step(
// CHECK-DAG: define {{.*}}@step.mpi(
double values[1000], others[1000];

#define TERM(k) sum += values[(i * k + 7) % 1000] / (others[(i + k) % 1000] + k * sum); if (sum > k) sum = others[k] - sum;
#define TERMS(k) TERM(k) TERM(k + 1) TERM(k + 2) TERM(k + 3) TERM(k + 4) TERM(k + 5) TERM(k + 6) TERM(k + 7)

static double large(int i) {
  double sum = 1;
  TERMS(1) TERMS(11) TERMS(21) TERMS(31) TERMS(41) TERMS(51)
  return sum;
}

void step(double *total, int n) {
#pragma omp for
  for (int i = 0; i < n; i++) {
    double one = large(i);
#pragma omp atomic
    *total += one;
  }
}
