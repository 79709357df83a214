// Work items that lie next to each other have elements of a row that do, where a loop inside the iterations of the loop that is
// shared goes along rows: the loop begins with the turn of a work item's own number among those that share the row, and goes on
// by as many as they are. The host says how many, and asks in front of that whether arrays overlap.
//
// REQUIRES: spirv-val
// RUN: clang-22 -O2 -fopenmp -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=warning: %s <%t.ptx
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck --check-prefix=HOST %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=spirv,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.spv 2>&1 && spirv-val %t.spv

// CHECK-LABEL: .entry okl_sweep_omp_outlined_0_region(
// CHECK-DAG:   shr.u32
// CHECK-DAG:   and.b32
// CHECK-DAG:   setp.ge.u32
// CHECK:       [[TURN:\$L__BB[0-9_]+]]:
// CHECK-COUNT-2: ld.global.b64
// CHECK-NOT:   ld.global
// CHECK:       st.global.b64
// CHECK-NOT:   st.global
// CHECK:       setp.lt.u32
// CHECK-NEXT:  @{{.*}} bra [[TURN]];
// The last turn's element of one array lies in front of the first one's of the other, or the other way round.
// HOST-LABEL: @sweep(
// HOST-COUNT-2: ptrtoint
// HOST:       call {{.*}}i64 @llvm.ctlz.i64(
// HOST:       call i32 @okl_gpu_launch_v6(
void sweep(int n, int m, const double *now, double *next) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 1; x < m; x++)
      next[y * (m + 1) + x] = now[y * (m + 1) + x - 1] + now[y * (m + 1) + x + 1];
}

// The elements of one array alone: nothing is asked of where they lie.
// CHECK-LABEL: .entry okl_scale_omp_outlined_1_region(
// CHECK:       shr.u32
// HOST-LABEL: @scale(
// HOST-NOT:   ptrtoint
// HOST:       call {{.*}}i64 @llvm.ctlz.i64(
// HOST:       call i32 @okl_gpu_launch_v6(
void scale(int n, int m, float *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++)
      a[y * m + x] *= y;
}

// Short rows, columns, what a turn writes and another one reads: a work item has all of an iteration.
// CHECK-LABEL: .entry okl_others_omp_outlined_2_region(
// CHECK-NOT:   shr.u32
// CHECK-LABEL: .entry okl_others_omp_outlined_1_3_region(
// CHECK-NOT:   shr.u32
// CHECK-LABEL: .entry okl_others_omp_outlined_2_4_region(
// CHECK-NOT:   shr.u32
// HOST-LABEL: @others(
// HOST-NOT:   call {{.*}}@llvm.ctlz
void others(int n, int m, double *a) {
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < 7; x++)
      a[y * 7 + x] += y;
#pragma omp parallel for
  for (int x = 0; x < m; x++)
    for (int y = 0; y < n; y++)
      a[y * m + x] += y;
#pragma omp parallel for
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m - 1; x++)
      a[y * m + x] = a[y * m + x + 1] / 2;
}
