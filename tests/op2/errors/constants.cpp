// Constants and data whose names of types, or numbers of values, are wrong are errors; constants that change after they
// were declared, and those that are no global variables, are warnings. So is a loop that OP2's translator has replaced.
//
// RUN: for level in 0 2; do (clang++-22 -std=c++11 -O$level -g -I%op2-include -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
#include "op_seq.h"

double gam, values[4], late, again, outside, copied[2];
int number;
static double filled[3];

static void uses_gam(double *x) { *x = gam * filled[0]; }
// CHECK-DAG: constants.cpp:[[#@LINE+1]]:47: warning: op_decl_const: outside is changed here after it was declared constant at {{.*}}constants.cpp:{{[0-9]+}}
static void changes(double *x) { *x = outside = 3; }
// CHECK-DAG: constants.cpp:[[#@LINE+1]]:32: warning: op_decl_const: late is changed here after it was declared constant at {{.*}}constants.cpp:[[#@LINE+5]]{{$}}
static void sets_late() { late = 2; }
static void sets_gam_first() { gam = 1.4; }
static void declares() {
  op_decl_const(1, "double", &again);
  op_decl_const(1, "double", &late);
}

// What the translator leaves of a program.
void op_par_loop_uses_gam(char const *, op_set, op_arg);

void program(op_set set, op_dat x, float *single, double alpha) {
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: error: op_decl_const: the data are of type int, not "double"
  op_decl_const(1, "double", &number);
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: error: op_decl_const2: the data are of type double, not "real"
  op_decl_const2("gam", 1, "real", &gam);
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: error: op_decl_dat: the data are of type float, not "double:soa"
  op_decl_dat(set, 1, "double:soa", single, "single");
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: error: op_decl_dat_temp: the data are of type double, not "float"
  op_decl_dat_temp(set, 1, "float", (double *)NULL, "temporary");
  // CHECK-DAG: constants.cpp:[[#@LINE+2]]:3: error: op_par_loop: arg0 is of type "float", but the kernel's parameter is double*
  // CHECK-DAG: constants.cpp:[[#@LINE+2]]:15: error: op_arg_gbl: the data are of type double, not "float"
  op_par_loop(uses_gam, "", set,
              op_arg_gbl(&alpha, 1, "float", OP_RW));
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set set = op_decl_set(10, "set");
  op_dat x = op_decl_dat(set, 1, "double", (double *)NULL, "x");
  double mach = 0.4;
  sets_gam_first();
  for (int k = 0; k < 4; k++)
    values[k] = k;
  op_decl_const(1, "double", &gam);
  op_decl_const(4, "double", values);
  op_decl_const(2, "double", values + 2);
  op_decl_const(1, "double", &outside);
  op_decl_const(2, "double", copied);
  op_decl_const(3, "double", filled);
  declares();
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: error: op_decl_const: 4 values of type "double", but filled has 3
  op_decl_const(4, "double", filled);
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: warning: op_decl_const: this is no global variable: kernels do not see it
  op_decl_const(1, "double", &mach);
  op_par_loop(uses_gam, "", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(changes, "", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
  sets_late();
  again = 5;
  op_decl_const(1, "double", &again);
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:9: warning: op_decl_const: again is changed here after it was declared constant at {{.*}}constants.cpp:[[#@LINE-1]]{{$}}
  again = 6;
  for (int k = 0; k < 2; k++) {
    // CHECK-DAG: constants.cpp:[[#@LINE+1]]:15: warning: op_decl_const: values is changed here after it was declared constant at {{.*}}constants.cpp:{{[0-9]+}}
    values[k] += 1;
    // CHECK-DAG: constants.cpp:[[#@LINE+1]]:5: warning: op_decl_const: copied is changed here after it was declared constant at {{.*}}constants.cpp:{{[0-9]+}}
    memset(copied, 0, sizeof copied);
  }
  mach = 1;
  // CHECK-DAG: constants.cpp:[[#@LINE+1]]:3: warning: op_par_loop_uses_gam is a loop that OP2's translator has replaced: compile the original source, which calls op_par_loop
  op_par_loop_uses_gam("", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
  op_exit();
}
