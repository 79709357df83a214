// Files are written and read in slabs: rank 0, which writes, never has room for all data of a set, and a rank that reads
// takes only what it keeps. Peaks of resident memory, with data of 32 MB on a mesh in parts, and 4 MB a slab.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: rm -f %t.h5 && mpirun --allow-run-as-root --oversubscribe -n 4 %t %t.h5 > %t.out && FileCheck --match-full-lines %s < %t.out && not grep more %t.out
// CHECK: written 1
// CHECK: read 1
// CHECK: same 1
#include "op_seq.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>
#include <vector>

static int const SIZE = 1000000, DIM = 4;

// Bytes of resident memory: now, or at most since the last time.
static double resident(char const *what) {
  double kilobytes = 0;
  char line[100];
  FILE *status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, what, strlen(what)) == 0)
      kilobytes = atof(line + strlen(what));
  fclose(status);
  return kilobytes * 1024;
}
static double begin() {
  malloc_trim(0);
  int const file = open("/proc/self/clear_refs", O_WRONLY);
  if (write(file, "5", 1) != 1)
    printf("the peak stays\n");
  close(file);
  return resident("VmRSS:");
}
static void check(char const *what, double start, double most) {
  double const grown = resident("VmHWM:") - start;
  if (grown > most)
    printf("%s: %.1f MB more\n", what, grown / 1e6);
  op_printf("%s %d\n", what, grown <= most);
}

static void fill(int const *number, double *x) {
  for (int k = 0; k < DIM; k++)
    x[k] = *number * 10.0 + k;
}
static void compare(double const *x, double const *y, int *differ) {
  for (int k = 0; k < DIM; k++)
    *differ += x[k] != y[k];
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set cells = op_decl_set(SIZE, "cells");
  op_dat x = op_decl_dat(cells, DIM, "double", (double *)NULL, "x");
  op_par_loop(fill, "fill", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, DIM, "double", OP_WRITE));
  double const slab = 4 << 20, part = SIZE / 4 * DIM * sizeof(double);

  // The library is loaded now.
  int one = 1;
  op_write_const_hdf5("one", 1, "int", (char *)&one, argv[1]);
  op_get_const_hdf5("one", 1, "int", (char *)&one, argv[1]);
  double start = begin();
  op_fetch_data_hdf5_file(x, argv[1]);
  check("written", start, 4 * slab);

  start = begin();
  op_dat y = op_decl_dat_hdf5(cells, DIM, "double", argv[1], "x");
  check("read", start, part + 4 * slab);
  int differ = 0;
  op_par_loop(compare, "compare", cells, op_arg_dat(x, -1, OP_ID, DIM, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, DIM, "double", OP_READ), op_arg_gbl(&differ, 1, "int", OP_INC));
  op_printf("same %d\n", differ == 0);
  op_exit();
  return 0;
}
