// Large variables get pages of their own where a program may use devices, and a list by which the run time finds them. Small
// ones, constants, those of each thread, in sections of the program's and such as another file may define do not, nor do those of
// programs without devices.
//
// RUN: clang-22 -O2 -fopenmp -fcommon -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o %t.ll && FileCheck %s < %t.ll
// RUN: clang-22 -O0 -g -fopenmp -fcommon -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck %s
// RUN: for target in cpu mpi mpi+cuda,cpu; do clang-22 -O2 -fopenmp -fcommon -DRANKS -fpass-plugin=%plugin -mllvm -okl-target=$target -S -emit-llvm %s -o -; done | FileCheck --check-prefix=NONE %s
// What has been done is not done once more.
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes=okl-finish -S %t.ll -o - | FileCheck %s
//
// CHECK-DAG: @alone = {{.*}}global { {{.*}}, [1728 x i8] } { {{.*}} 1.000000e+00, {{.*}}, [1728 x i8] zeroinitializer }, align 4096
// CHECK-DAG: @of_file = internal {{.*}}global { [8192 x double], [4096 x i8] } zeroinitializer, align 4096
// CHECK-DAG: @use.of_function = internal {{.*}}global { [100000 x i8], [2400 x i8] } zeroinitializer, align 4096
// CHECK-DAG: @shared = common {{.*}}global [300 x [300 x float]] zeroinitializer, align 16
// CHECK-DAG: @small = {{.*}}global [8191 x double] zeroinitializer
// CHECK-DAG: @table = {{.*}}constant {{.*}}2.000000e+00{{.*}}, align 16
// CHECK-DAG: @own = {{.*}}thread_local {{.*}}global [9000 x double] zeroinitializer, align 16
// CHECK-DAG: @apart = {{.*}}global [9000 x double] zeroinitializer, section "apart"
// CHECK-DAG: @elsewhere = external {{.*}}global [9000 x double]
// CHECK-DAG: = internal global { ptr, i64 } { ptr @alone, i64 72000 }, section "okl_arrays", align 8
// CHECK-DAG: = internal global { ptr, i64 } { ptr @of_file, i64 65536 }, section "okl_arrays", align 8
// CHECK-DAG: = internal global { ptr, i64 } { ptr @use.of_function, i64 100000 }, section "okl_arrays", align 8
// CHECK-NOT: okl_arrays
// NONE-NOT:  okl_arrays
double alone[9000] = {1};
static double of_file[8192];
float shared[300][300];
double small[8191] = {};
const double table[9000] = {2};
_Thread_local double own[9000];
#ifndef RANKS
__attribute__((section("apart")))
#endif
double apart[9000];
extern double elsewhere[9000];

double use(int i) {
  static char of_function[100000];
  of_file[i] += of_function[2 * i]++;
  return own[i] + small[i] + elsewhere[i] + shared[i][i] + of_file[9 * i] + apart[i] + table[i] + alone[i];
}
