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

// That the kernel only adds is not only stated, but found.
// CHECK:      parallel region in edges
// CHECK:      op_par_loop in edges{{.*}} at {{.*}}op2.cpp:[[# @LINE + 25]]
// CHECK-NEXT:   body {{.*}}flux
// CHECK-NEXT:   elements of a set
// CHECK-NEXT:   arg 0: data by element or component
// CHECK-NEXT:   arg 1: data by component or element
// CHECK-NEXT:   arg 2: data by element{{$}}
// CHECK-NEXT:   arg 3: data by element or component
// CHECK-NEXT:   arg 4: data by element{{$}}
// CHECK-NEXT:   arg 5: the number of an element
// CHECK-NEXT:   stated: may read 3 x f64 in arg 0 through column 1 of the map of arg 0{{$}}
// CHECK-NEXT:   stated: may read 2 x f32 in arg 1, its own element{{$}}
// CHECK-NEXT:   stated: may read 1 x u32 in arg 2, its own element, if it is there{{$}}
// CHECK-NEXT: {{^ *}}may increment 2 x f64 in arg 3 through column 0 of the map of arg 0{{$}}
// CHECK-NEXT:   stated: may max 1 x f64 in arg 4, all of it{{$}}
// CHECK-NEXT:   stated: may read 1 x i32 in arg 5, its own element{{$}}
// CHECK-NOT:    unknown
// ACCESSES:      op_par_loop at {{.*}}op2.cpp:[[# @LINE + 9]]: elements of a set{{$}}
// ACCESSES-NEXT:   stated: may read 3 x f64 in arg 0 through column 1 of the map of arg 0{{$}}
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

static void sum(const double **x, const double *, double *y, double *z, const int *number) {
  *y = x[0][0] + x[1][0] + *number;
  *z = *y;
}

// What the program declares of a map is known; what is only read is not written, whatever the loop says.
// CHECK:      op_par_loop in corners{{.*}} at {{.*}}op2.cpp:[[# @LINE + 21]]
// CHECK-NEXT:   body {{.*}}sum
// CHECK-NEXT:   elements of a set
// CHECK-NEXT:   arg 0: data by element or component
// CHECK-NEXT:   arg 1: data by element or component
// CHECK-NEXT:   arg 2: data by element{{$}}
// CHECK-NEXT:   arg 3: data by element{{$}}
// CHECK-NEXT:   arg 4: the number of an element
// CHECK-NEXT:   stated: may read 3 x f64 in arg 0 through the first 2 columns of 4 of the map of arg 0{{$}}
// CHECK-NEXT: {{^ *}}may read 3 x f64 in arg 1 through column 3 of 4 of the map of arg 0{{$}}
// CHECK-NEXT:   stated: write 1 x f64 in arg 2, its own element{{$}}
// CHECK-NEXT:   stated: may read and write 1 x f64 in arg 3, its own element{{$}}
// CHECK-NEXT:   stated: may read 1 x i32 in arg 4 through column 2 of 4 of the map of arg 0{{$}}
// CHECK-NOT:    unknown
// ACCESSES:      op_par_loop at {{.*}}op2.cpp:[[# @LINE + 7]]:
// ACCESSES-NEXT:   stated: may read 3 x f64 in arg 0 through the first 2 columns of 4 of the map of arg 0{{$}}
// ACCESSES-NEXT: {{^ *}}may read 3 x f64 in arg 1 through column 3 of 4 of the map of arg 0{{$}}
// ACCESSES-NEXT:   stated: write 1 x f64 in arg 2, its own element{{$}}
// PLAN:      op_par_loop at {{.*}}op2.cpp:[[# @LINE + 3]]: on the processor
extern "C" void corners(op_set from, op_set to, int *numbers, op_dat x, op_dat y, op_dat z) {
  op_map map = op_decl_map(from, to, 4, numbers, "map");
  op_par_loop(sum, "sum", from, op_arg_dat(x, -2, map, 3, "double", OP_READ),
              op_arg_dat(x, 3, map, 3, "double", OP_RW), op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(z, -1, OP_ID, 1, "double", OP_RW), op_arg_idx(2, map));
}
