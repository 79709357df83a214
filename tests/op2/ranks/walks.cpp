// A program that declares the whole mesh and goes through maps and data itself: on several ranks each has all of it, and a
// warning says why and what to do. One that takes copies is distributed.
//
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.walks
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin -DDATA %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.data
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin -DCOPIES %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.copies
// RUN: mpirun --allow-run-as-root --oversubscribe -n 4 %t.walks 2>%t.told | FileCheck --check-prefixes=CHECK,WHOLE %s
// RUN: FileCheck --match-full-lines --check-prefix=MAP %s < %t.told
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t.data 2>%t.told | FileCheck --check-prefixes=CHECK,WHOLE %s
// RUN: FileCheck --match-full-lines --check-prefix=DATA %s < %t.told
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t.copies 2>&1 | FileCheck --implicit-check-not=okl: --check-prefixes=CHECK,PART %s
// RUN: %t.walks 2>&1 | FileCheck --implicit-check-not=okl: --check-prefixes=CHECK,WHOLE %s
//
// MAP: okl: warning: {{.*}}walks.cpp:[[#@LINE+23]]: op_map->map: the program looks at it itself, but a rank has only a part of it: every rank computes the whole mesh; to distribute it, use op_fetch_data and loops, or declare a part of the mesh on each rank and include op_lib_mpi.h
// DATA: okl: warning: {{.*}}walks.cpp: in walk: op_dat->data: the program looks at it itself, but a rank has only a part of it: every rank computes the whole mesh; to distribute it, use op_fetch_data and loops, or declare a part of the mesh on each rank and include op_lib_mpi.h
// CHECK: sum 4.00001e+10
// WHOLE-NEXT: all 200000 are here
// PART-NEXT: a part is here
#include "op_seq.h"

#include <vector>

static void next(double *x) { *x += 1; }

static double walk(op_map map, op_dat dat, int size) {
  double sum = 0;
#ifdef COPIES
  (void)map;
  op_dat copy = op_fetch_data_file_char(dat);
  for (int n = 0; n < size; n++)
    sum += ((double *)copy->data)[(n + 1) % size];
#else
  for (int n = 0; n < size; n++)
#ifdef DATA
    sum += ((double *)dat->data)[(n + 1) % size];
#else
    sum += ((double *)dat->data)[map->map[n]];
#endif
#endif
  return sum + size * 0.5;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  enum { SIZE = 200000 };
  std::vector<int> numbers(SIZE);
  std::vector<double> values(SIZE);
  for (int n = 0; n < SIZE; n++)
    numbers[n] = (n + 1) % SIZE, values[n] = 2 * n;
  op_set set = op_decl_set(SIZE, "set");
  op_map map = op_decl_map(set, set, 1, numbers.data(), "map");
  op_dat dat = op_decl_dat(set, 1, "double", values.data(), "dat");
  op_par_loop(next, "next", set, op_arg_dat(dat, 0, map, 1, "double", OP_INC));
  double const sum = walk(map, dat, op_get_size(set));
  op_printf("sum %.6g\n", sum);
  if (set->core_size == SIZE)
    op_printf("all %d are here\n", set->core_size);
  else
    op_printf("a part is here\n");
  op_exit();
  return 0;
}
