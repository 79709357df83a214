// Fields behind pointers are read in front of a loop although not every turn comes to them: the run time says whether they
// can be read. Not where the loop may write them, and not in front of loops that are inside others.
// RUN: clang-22 -O2 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=CODE --input-file=%t.ll
struct atoms {
  double (*place)[3], (*force)[3], *energy;
  int *species;
};
struct cells {
  int count, *atoms_in;
};
struct state {
  struct cells *cells;
  struct atoms *atoms;
  double step;
};
enum { MOST = 16 };

// CHECK: behind-pointers.c:[[@LINE+8]]:1: remark: region declares all its accesses
// CODE-LABEL: define internal void @move.omp_outlined(
// CODE: %[[AT:.*]] = call ptr @okl_mpi_readable(ptr {{.*}}, i64 8)
// What is loaded there is declared, too.
// CODE: call void @okl_mpi_sections(
// CODE-NEXT: load ptr, ptr %[[AT]], align 8
// CODE: }
void move(struct state *s) {
#pragma omp parallel for
  for (int c = 0; c < s->cells->count; c++)
    for (int i = c * MOST; i < c * MOST + s->cells->atoms_in[c]; i++)
      for (int k = 0; k < 3; k++)
        s->atoms->place[i][k] += s->step * s->atoms->force[i][k];
}

// CHECK: behind-pointers.c:[[@LINE+3]]:1: remark: region declares all its accesses
double sum(struct state *s, int cells) {
  double all = 0;
#pragma omp parallel for reduction(+ : all)
  for (int c = 0; c < cells; c++)
    if (s->cells->atoms_in[c] > 0)
      for (int i = 0; i < s->cells->atoms_in[c]; i++)
        all += s->atoms->energy[c * MOST + i];
  return all;
}

// The pointer changes in the loop.
// CHECK: behind-pointers.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it {{reads from|writes to}} an object that is not known before the loop
void turn_over(struct state **all, int n) {
#pragma omp parallel for
  for (int c = 0; c < n; c++)
    for (int i = 0; i < all[0]->cells->count; i++) {
      all[0]->atoms->energy[i] = c;
      all[c]->atoms->energy = 0;
    }
}

// A function that regions call for small pieces of work asks nothing.
// CODE-LABEL: define dso_local void @small(
// CODE-NOT: okl_mpi_readable
// CODE: }
__attribute__((noinline)) void small(struct state *s, int n) {
  for (int i = 0; i < n; i++)
    s->atoms->energy[i] = 0;
}
void call_small(struct state **all, int n) {
#pragma omp parallel for
  for (int c = 0; c < n; c++)
    small(all[c], 3);
}
