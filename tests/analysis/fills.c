// LLVM makes one fill of the stores of a vector's components, without their type. Where all stores of the function are of
// another type than the pointers that a loop loads, it changes none of these. Messages change none either.
// RUN: clang-22 -O2 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck %s
#include <stdio.h>
#include <string.h>

struct atoms {
  double (*force)[3], *energy;
};
struct link {
  double *a, *b, *c, *d;
};

static inline void zero(double *vector) { vector[0] = vector[1] = vector[2] = 0; }

// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: region declares all its accesses (4 sections)
void numbers(struct atoms *atoms, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    zero(atoms->force[i]);
    atoms->energy[i] = 1;
  }
}

struct simulation {
  int count;
  struct atoms *atoms;
};

// LLVM loads the atoms' pointer again behind the fill, and carries it to the next turn.
// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: region declares all its accesses (6 sections)
void behind_two(struct simulation *all, double *rest, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    zero(all->atoms->force[i]);
    all->atoms->energy[i] = 0;
    rest[i] = 0;
  }
}

static inline void cut(struct link *link) { link->a = link->b = link->c = link->d = 0; }

// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it writes to an object that is not known before the loop
void pointers(struct link *links, struct atoms *atoms, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    cut(&links[i]);
    atoms->energy[i] = 1;
  }
}

// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it {{reads from|writes to}} an object that is not known before the loop
void bytes(struct atoms *atoms, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    memset(atoms->force[i], 0, sizeof atoms->force[i]);
    atoms->energy[i] = 1;
  }
}

// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: region declares all its accesses (4 sections)
void messages(struct atoms *atoms, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    atoms->energy[i] = 1;
    if (atoms->force[i][0] < 0)
      printf("%5.2f%% of %d\n", atoms->force[i][0], i);
  }
}

// CHECK-DAG: fills.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it {{.*}}
void counts(struct atoms *atoms, int *length, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    atoms->energy[i] = 1;
    if (atoms->force[i][0] < 0)
      printf("%d%n\n", i, length);
  }
}
