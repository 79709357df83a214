// What cannot be described is a stretch of code that tracks pages: a loop, or what lies between nests. The rest of its
// region keeps its sections.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.out.ll 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=CODE < %t.out.ll
enum { N = 10000 };
double x[N], y[N];
void timer_start(int), timer_stop(int);
double changed(double);
double norm(const double *, int);

// CHECK: region at {{.*}}stretches.c:[[@LINE+15]]: complete but for
// CHECK-DAG: tracked unless another file describes it, it calls timer_start, which is not known here ({{.*}}stretches.c:[[@LINE+18]])
// CHECK-DAG: tracked unless another file describes it, it calls timer_stop, which is not known here ({{.*}}stretches.c:[[@LINE+23]])
// CHECK-DAG: tracked unless another file describes it, it calls changed, which is not known here ({{.*}}stretches.c:[[@LINE+25]])
// CHECK-DAG: nest {{.*}}stretches.c:[[@LINE+19]]
// CHECK-DAG: nest {{.*}}stretches.c:[[@LINE+23]]
// REMARK: stretches.c:[[@LINE+9]]:1: remark: region declares all its accesses ({{[0-9]+}} sections here), if the functions of other files that it calls can be described
// REMARK-DAG: stretches.c:[[@LINE+12]]:7: remark: pages are tracked while this runs, unless it turns out when the program starts that the other file describes it: it calls timer_start, which is not known here
// REMARK-DAG: stretches.c:[[@LINE+20]]:14: remark: pages are tracked while this runs, unless it turns out when the program starts that the other file describes it: it calls changed, which is not known here
// CODE-LABEL: define internal void @solve.omp_outlined(
// CODE: [[BEFORE:%.*]] = {{.*}}call i32 @okl_mpi_undeclared(i32 2, ptr null)
// CODE: call i32 @okl_mpi_undeclared(i32 1, ptr {{.*}})
// CODE-NEXT: call void @timer_start
// CODE-NEXT: call i32 @okl_mpi_undeclared(i32 [[BEFORE]], ptr null)
void solve(int turns) {
#pragma omp parallel
  for (int turn = 0; turn < turns; turn++) {
#pragma omp master
    {
      timer_start(1);
    }
#pragma omp for
    for (int i = 0; i < N; i++)
      x[i] = 2 * y[i];
#pragma omp master
    timer_stop(1);
#pragma omp for
    for (int i = 0; i < N; i++)
      y[i] = changed(x[i]);
  }
}

// A nest that calls such a function is both: it is declared, and a stretch where the declaration does not count.
// CHECK: region at {{.*}}stretches.c:[[@LINE+9]]: complete but for
// CHECK-NEXT: tracked unless another file describes it, it calls changed
// CHECK-NEXT: nest
// REMARK: stretches.c:[[@LINE+6]]:1: remark: region declares all its accesses (2 sections here), if
// CODE-LABEL: define internal void @alone.omp_outlined(
// CODE: call i32 @okl_mpi_undeclared(i32 1, ptr {{.*}})
// CODE: call void @okl_mpi_sections(
// CODE: call double @changed(
void alone(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    y[i] = changed(x[i]);
}

// Critical sections are stretches from end to end, whatever is in them.
// CHECK: region at {{.*}}stretches.c:[[@LINE+11]]: complete but for
// CHECK-NEXT: tracked, it has a critical section ({{.*}}stretches.c:[[@LINE+15]])
// CHECK-NOT: read x
// REMARK: stretches.c:[[@LINE+13]]:1: remark: pages are tracked while this runs, and the region's other accesses are declared: it has a critical section
// CODE-LABEL: define internal void @ordered.omp_outlined(
// CODE: call i32 @okl_mpi_undeclared(i32 1,
// CODE-NEXT: call void @okl_mpi_kmpc_critical(
// CODE-NOT: call void @okl_mpi_sections(
// CODE: call void @okl_mpi_kmpc_end_critical(
// CODE-NEXT: call i32 @okl_mpi_undeclared(
void ordered(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++)
      x[i] = 2 * y[i];
#pragma omp critical
    {
      if (x[0] < x[N - 1])
        for (int i = 0; i < N; i++)
          x[i] += 1;
      x[0] = norm(x, N);
    }
  }
}

// A loop that hands out chunks of nothing but such code is one stretch: it begins in front of all chunks and ends behind
// them, so that what was read the time before is fetched at once.
struct node {
  struct node *next;
  double value;
} *lists[N];
// CHECK: region at {{.*}}stretches.c:[[@LINE+9]]: complete but for
// CHECK-NEXT: tracked, it {{.*}} ({{.*}}stretches.c:[[@LINE+15]])
// CHECK-NOT: tracked
// CODE-LABEL: define internal void @in_chunks.omp_outlined(
// CODE: call i32 @okl_mpi_kmpc_dispatch_next_4(
// CODE: call i32 @okl_mpi_undeclared(i32 1,
// CODE-NOT: call i32 @okl_mpi_undeclared(
// CODE: call i32 @okl_mpi_kmpc_dispatch_next_4(
void in_chunks(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++)
      x[i] = 2 * y[i];
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++)
      for (struct node *at = lists[i]; at; at = at->next) at->value += 1;
  }
}
