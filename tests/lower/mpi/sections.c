// What the pass emits: a constant table, the values in front of the nest, a flag and the direct
// accesses in the region's descriptor. Without optimisation nothing; with the plugin loaded twice once.
// RUN: clang-22 -O1 -g1 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang-22 -O1 -g1 -fopenmp -fpass-plugin=%plugin -fpass-plugin=%plugin -S -emit-llvm %s -o - | grep -c 'call void @okl_mpi_sections' | grep -x 1
// RUN: clang-22 -O0 -g1 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.0.ll && ! grep okl_mpi_sections %t.0.ll
// RUN: clang-22 -O1 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: sections.c:[[@LINE+11]]:1: remark: region declares all its accesses (2 sections)

// CHECK-DAG: @okl.region = {{.*}}@scale.omp_outlined{{.*}}, ptr @okl.direct, i64 3, ptr null, i64 0 }
// CHECK-DAG: @okl.direct = private constant [3 x { i64, ptr, i64, i64 }] [{{.*}}{ i64 0, ptr null, i64 0, i64 {{[48]}} }
// CHECK-DAG: @okl.sections.entries = private constant [2 x {{.*}}] [{{.*}} { i64 1, i64 8, i64 1, {{.*}}, {{.*}} { i64 2, i64 8, i64 1,
// CHECK-DAG: @okl.sections.values = private constant [6 x { i64, ptr, i64 }] [{{.*}}{ i64, ptr, i64 } { i64 -1, ptr null, i64 8 }, { i64, ptr, i64 } { i64 1, ptr null, i64 0 }
// CHECK-DAG: @okl.sections = private constant { ptr, ptr, i64, ptr, i64 } { ptr {{.*}}, ptr @okl.sections.entries, i64 2, ptr @okl.sections.values, i64 6 }
// CHECK-LABEL: define internal void @scale.omp_outlined(
// CHECK:         call void @okl_mpi_kmpc_for_static_init_4(
// CHECK:         call void @okl_mpi_sections(ptr nonnull @okl.sections, ptr nonnull %{{.*}})
void scale(double *a, double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
}
// CHECK-NOT:     call void @okl_mpi_sections
