// The assignment of a structure changes objects of its fields' types only: not the pointers and numbers of other types that
// a loop reads, in its own code or in a function that it calls.
// RUN: clang-22 -O2 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck %s
struct complex {
  double re, im;
};
struct plan {
  struct complex *to, *from;
  long n;
};
struct link {
  struct complex *to;
  long at;
};

// CHECK-DAG: structures-copied.c:[[@LINE+2]]:1: remark: region declares all its accesses
void turn_over(struct plan *plan, int rows) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++)
    for (long i = 0; i < plan->n; i++)
      plan->to[r * plan->n + i] = plan->from[r * plan->n + plan->n - 1 - i];
}

// CHECK-DAG: structures-copied.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it {{reads from|writes to}} an object that is not known before the loop
void turn_pointers_over(struct link *to, struct link *from, struct plan *plan, int rows) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    to[r] = from[r];
    for (long i = 0; i < plan->n; i++)
      plan->to[r * plan->n + i].re = 0;
  }
}
