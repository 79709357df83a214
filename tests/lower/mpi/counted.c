// What stores have written to places that counters say is marked behind the loop, from the counters as they were and as they
// are; in the loop only where the run time asks for it. Counters may be threadprivate, but then nothing else is stored in the
// loop that may change them. Counters that may be anywhere are noted when they count for the first time, and marked then.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s

int omp_get_thread_num(void);
enum { N = 60000, BUCKETS = 64 };
int key[N];
int *to, *other;
static int next_of[BUCKETS];
#pragma omp threadprivate(next_of)

void start(int bucket, int at) { next_of[bucket] = at; }

// CHECK-LABEL: define internal void @sort.omp_outlined(
// CHECK: call void @okl_mpi_sections(
// CHECK: call void @llvm.memcpy{{.*}}, i64 256, i1 true)
// CHECK: call void @okl.counted(
// CHECK-LABEL: define internal void @others.omp_outlined(
// CHECK-NOT: @okl.counted(
// CHECK: ret void
void sort(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    to[next_of[key[i] & 63]++] = i;
}

// Somebody may have the address of a thread's copy.
void others(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    to[next_of[key[i] & 63]++] = i;
    other[i] = i;
  }
}

// Where it is known all the loop does is to ask whether it is.
// CHECK-LABEL: define internal void @rows.omp_outlined(
// CHECK: call void @okl_mpi_sections(
// CHECK: call void @llvm.memset{{.*}}, i8 0, i64 8192, i1 false)
// CHECK: call void @okl.noted(
// CHECK: [[KNOWN:%.*]] = load ptr, ptr
// CHECK: [[IS_KNOWN:%.*]] = icmp eq ptr [[KNOWN]], [[COUNTER:%.*]]
// CHECK: br i1 [[IS_KNOWN]], label %[[STORE:[0-9]+]], label
// CHECK: store i8 1,
// CHECK: or i8
// CHECK: store ptr [[COUNTER]], ptr
// CHECK: [[STORE]]:
// CHECK-NEXT: store i32 {{.*}}, ptr [[COUNTER]]
void rows(int (*table)[BUCKETS]) {
#pragma omp parallel
  {
    int *mine = table[omp_get_thread_num()];
    for (int i = 0; i < N; i++)
      to[mine[key[i]]++] = i;
  }
}
