// What a kernel throws reaches the program, also where no header of okl's has said so of what runs the loop: OP2's own
// declares the template alone.
//
// RUN: for level in 0 2; do clang++-22 -O$level -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t || exit 1; %t | FileCheck %s || exit 1; done
// CHECK: caught 7
#include "op_lib_cpp.h"
#include <cstdio>

template <class... T, class... Arguments>
void op_par_loop(void (*kernel)(T *...), char const *name, op_set set, Arguments... arguments);

static void throws(double *x) {
  if (x[0] == 7)
    throw 7;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set set = op_decl_set(20, "set");
  double start[20];
  for (int k = 0; k < 20; k++)
    start[k] = k;
  op_dat dat = op_decl_dat(set, 1, "double", start, "dat");
  try {
    op_par_loop(throws, "throws", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW));
  } catch (int n) {
    std::printf("caught %d\n", n);
  }
  op_exit();
}
