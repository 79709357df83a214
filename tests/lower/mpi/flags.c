// Accesses to flags become calls of the run time, also those that wait for nothing, and atomic ones where there is one
// rank. A loop that looks at a flag first needs no flush.
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %t.ll | FileCheck %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %t.ll | FileCheck --check-prefix=PLAIN %s

static int flags[8];
static unsigned char last;

// PLAIN-LABEL: define internal void @pass_on.omp_outlined.plain(
// PLAIN:         load atomic i32, ptr {{.*}} acquire
// PLAIN:         store atomic i32 1, ptr {{.*}} release
// PLAIN:         ret void

// CHECK-LABEL: define internal void @pass_on.omp_outlined(
// CHECK:         call i64 @okl_mpi_flag_load(ptr {{.*}}, i32 4)
// CHECK-NOT:     flush
// CHECK-NOT:     okl_mpi_flag_load
// CHECK:         call void @okl_mpi_flag_store(ptr {{.*}}, i64 1, i32 4)
// CHECK:         call void @okl_mpi_kmpc_flush(
// CHECK:         call void @okl_mpi_flag_store(ptr {{.*}}, i64 {{.*}}, i32 1)
// CHECK:         call void @okl_mpi_kmpc_flush(
// CHECK:         call i64 @okl_mpi_flag_load(ptr {{.*}}, i32 1)
// CHECK:         ret void
void pass_on(int i) {
#pragma omp parallel
  {
    int before = i - 1;
    while (flags[before] == 0) {
#pragma omp flush
    }
    flags[i] = 1;
#pragma omp flush
    last = i;
    do {
#pragma omp flush
    } while (last != i);
  }
}

// What serial code does with them is the same.
// CHECK-LABEL: define internal void @reset.mpi(
// CHECK:         call void @okl_mpi_flag_store(ptr {{.*}}, i64 0, i32 4)
void reset(void) {
  for (int i = 0; i < 8; i++)
    flags[i] = 0;
}
