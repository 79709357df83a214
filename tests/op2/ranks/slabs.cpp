// Files are written and read in slabs: no rank ever has room for all data of a set, whether all ranks write or rank 0, and a
// rank that reads takes only what it keeps. Peaks of resident memory, with data of 32 MB on a mesh in parts, 4 MB a slab,
// and a list of the elements that are here.
// What the ranks hand to the system is counted: where all write, each its part. The first of them has a row more than the
// others, and a slab.
//
// REQUIRES: h5dump libhdf5
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: rm -f %t.h5 && mpirun --allow-run-as-root --oversubscribe -n 4 %t %t.h5 > %t.out && sort %t.out | FileCheck --check-prefixes=CHECK,ALL --match-full-lines %s
// RUN: ldd $(command -v h5dump) | awk '/libhdf5[a-z]*(_serial)?\.so/ { print $3 }' > %t.library
// RUN: rm -f %t.h5 && OKL_HDF5=$(cat %t.library) mpirun --allow-run-as-root --oversubscribe -n 4 %t %t.h5 > %t.out 2> %t.err && sort %t.out | FileCheck --check-prefixes=CHECK,ONE --match-full-lines %s
// CHECK-NOT: {{.*}}more
// CHECK:      long written 1
// CHECK-NEXT: printed 1
// ALL-NEXT:   rank 0 writes 12 MB
// ALL-NEXT:   rank 1 writes 12 MB
// ALL-NEXT:   rank 2 writes 12 MB
// ALL-NEXT:   rank 3 writes 12 MB
// ONE-NEXT:   rank 0 writes 49 MB
// ONE-NEXT:   rank 1 writes 0 MB
// ONE-NEXT:   rank 2 writes 0 MB
// ONE-NEXT:   rank 3 writes 0 MB
// CHECK-NEXT: read 1
// CHECK-NEXT: same 1 1 1
// CHECK-NEXT: written 1
// CHECK-NOT:  {{.}}
#include "op_seq.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>
#include <string>

static int const SIZE = 1000000, DIM = 4, LONG = 4 * (1 << 20) + 1;

static double entry(char const *file, char const *what) {
  double number = 0;
  char line[100];
  FILE *status = fopen(file, "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, what, strlen(what)) == 0)
      number = atof(line + strlen(what));
  fclose(status);
  return number;
}
// Bytes of resident memory: now, or at most since the last time.
static double resident(char const *what) { return entry("/proc/self/status", what) * 1024; }
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
static void count(int const *number, int *n) { *n = 7 * *number; }
static void compare_counts(int const *m, int const *n, int *differ) { *differ += *m != *n; }

// Whether the file holds these sizes, and all values.
static bool has_bytes(std::string const &path) {
  FILE *file = fopen(path.c_str(), "r");
  int head[2];
  double row[DIM];
  bool is_right = fread(head, sizeof head, 1, file) == 1 && head[0] == SIZE && head[1] == DIM;
  for (int n = 0; n < SIZE; n++) {
    is_right &= fread(row, sizeof row, 1, file) == 1;
    for (int k = 0; k < DIM; k++)
      is_right &= row[k] == n * 10.0 + k;
  }
  is_right &= fgetc(file) == EOF;
  fclose(file);
  return is_right;
}
static bool has_text(std::string const &path) {
  FILE *file = fopen(path.c_str(), "r");
  char line[100], expected[100];
  bool is_right = fgets(line, sizeof line, file) && strcmp(line, "4194305 1\n") == 0;
  for (int n = 0; n < LONG; n++) {
    snprintf(expected, sizeof expected, " %d\n", 7 * n);
    is_right &= fgets(line, sizeof line, file) && strcmp(line, expected) == 0;
  }
  is_right &= fgetc(file) == EOF;
  fclose(file);
  return is_right;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set cells = op_decl_set(SIZE, "cells");
  op_dat x = op_decl_dat(cells, DIM, "double", (double *)NULL, "x");
  op_par_loop(fill, "fill", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, DIM, "double", OP_WRITE));
  op_set many = op_decl_set(LONG, "many");
  op_dat n = op_decl_dat(many, 1, "int", (int *)NULL, "n");
  op_par_loop(count, "count", many, op_arg_idx(-1, OP_ID), op_arg_dat(n, -1, OP_ID, 1, "int", OP_WRITE));
  double const slab = 4 << 20, part = SIZE / 4 * DIM * sizeof(double), list = LONG / 4 * 8;

  // The library is loaded now.
  int one = 1;
  op_write_const_hdf5("one", 1, "int", (char *)&one, argv[1]);
  op_get_const_hdf5("one", 1, "int", (char *)&one, argv[1]);
  double const before = entry("/proc/self/io", "wchar:");
  double start = begin();
  op_fetch_data_hdf5_file(x, argv[1]);
  check("written", start, 4 * slab);
  start = begin();
  op_fetch_data_hdf5_file(n, argv[1]);
  check("long written", start, 4 * slab + list);
  int rank;
  op_rank(&rank);
  printf("rank %d writes %.0f MB\n", rank, (entry("/proc/self/io", "wchar:") - before) / 1e6);

  std::string const bytes = argv[1] + std::string(".bytes"), words = argv[1] + std::string(".text");
  start = begin();
  op_print_dat_to_binfile(x, bytes.c_str());
  op_print_dat_to_txtfile(n, words.c_str());
  check("printed", start, 4 * slab + list);

  start = begin();
  op_dat y = op_decl_dat_hdf5(cells, DIM, "double", argv[1], "x");
  check("read", start, part + 4 * slab);
  op_dat m = op_decl_dat_hdf5(many, 1, "int", argv[1], "n");
  int differ = 0;
  op_par_loop(compare, "compare", cells, op_arg_dat(x, -1, OP_ID, DIM, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, DIM, "double", OP_READ), op_arg_gbl(&differ, 1, "int", OP_INC));
  op_par_loop(compare_counts, "compare_counts", many, op_arg_dat(m, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(n, -1, OP_ID, 1, "int", OP_READ), op_arg_gbl(&differ, 1, "int", OP_INC));
  if (op_is_root())
    printf("same %d %d %d\n", differ == 0, has_bytes(bytes), has_text(words));
  op_exit();
  return 0;
}
