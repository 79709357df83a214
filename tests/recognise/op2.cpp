// OP2's loops: what each argument is, what the programmer says that it accesses, and where loops and regions go.
// RUN: clang++-22 -std=c++11 -O0 -fopenmp -gline-tables-only -I%op2-include -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=ACCESSES %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PLAN %s
#include "op_seq.h"

static void flux(const double *x, const float *y, const unsigned *z, double *w, double *most, const int *number) {
  if (z) w[1] += *x * *y * *number;
  if (*x > *most) *most = *x;
}

// CHECK:      parallel region in edges
// CHECK:      op_par_loop in edges{{.*}} at {{.*}}op2.cpp:[[# @LINE + 18]]
// CHECK-NEXT:   body {{.*}}flux
// CHECK-NEXT:   elements of a set
// CHECK-NEXT:   arg 0: read, through column 1 of a map, 3 x f64, by element or component
// CHECK-NEXT:   arg 1: read, section 0 + 2 * i, 2 x f32, by component or element
// CHECK-NEXT:   arg 2: read, section 0 + 1 * i, 1 x u32, optional{{$}}
// CHECK-NEXT:   arg 3: increment, through column 0 of a map, 2 x f64, by element or component
// CHECK-NEXT:   arg 4: max, scalar, 1 x f64
// CHECK-NEXT:   arg 5: read, number of the iteration
// ACCESSES:      op_par_loop at {{.*}}op2.cpp:[[# @LINE + 9]]:
// ACCESSES-NEXT:   arg 0: read, through column 1 of a map
// PLAN:      parallel region at {{.*}}op2.cpp:[[# @LINE + 4]]: on the processor
// PLAN-NEXT: op_par_loop at {{.*}}op2.cpp:[[# @LINE + 6]]: on the processor
extern "C" double edges(op_set set, op_map map, op_dat x, op_dat y, op_dat z, op_dat w, int *count) {
  double most = 0;
#pragma omp parallel
  ++*count;

  op_par_loop(flux, "flux", set, op_arg_dat(x, 1, map, 3, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 2, "float:soa", OP_READ),
              op_opt_arg_dat(count != nullptr, z, -1, OP_ID, 1, "uint", OP_READ),
              op_arg_dat(w, 0, map, 2, "double", OP_INC), op_arg_gbl(&most, 1, "double", OP_MAX),
              op_arg_idx(-1, OP_ID));
  return most;
}
