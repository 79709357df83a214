// Functions that are replaced when the program is linked: what their weak definitions do to a loop's data says nothing.
// A function that is chosen when the program starts, here for main, does not disturb what is found out of kernels.
//
// RUN: clang++-22 -O2 -march=native -I%op2-include -fpass-plugin=%plugin -c %s -o %t.weak.o
// RUN: clang++-22 -O2 -I%op2-include -fpass-plugin=%plugin -DSTRONG -c %s -o %t.strong.o
// RUN: clang++-22 %t.weak.o %t.strong.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: OP_AUTO_SOA=1 %t | FileCheck %s
//
// CHECK: kernel 2.5, called 4, chosen 7
#ifdef STRONG
void kernel(double *x) { x[0] += 2; }
void called(double *x) { x[1] += 3; }
#else
#include "op_seq.h"

__attribute__((weak)) void kernel(double *) {}
__attribute__((weak)) void called(double *) {}
static void calls(double *x) {
  if (x[0] > 0)
    called(x);
}

static int seven() { return 7; }
extern "C" int (*choose())() { return seven; }
extern "C" int chosen() __attribute__((ifunc("choose")));

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set set = op_decl_set(20, "set");
  double start[40], found[40];
  for (int k = 0; k < 40; k++)
    start[k] = 0.5 + k % 2 * 0.5;
  op_dat dat = op_decl_dat(set, 2, "double", start, "dat");
  op_par_loop(kernel, "kernel", set, op_arg_dat(dat, -1, OP_ID, 2, "double", OP_RW));
  op_par_loop(calls, "calls", set, op_arg_dat(dat, -1, OP_ID, 2, "double", OP_RW));
  op_fetch_data(dat, found);
  op_printf("kernel %g, called %g, chosen %d\n", found[38], found[39], chosen());
  op_exit();
}
#endif
