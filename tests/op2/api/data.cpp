// Data that come and go, in every type; files; the lists that programs may walk.
//
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: cd $(dirname %t) && %t | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT --match-full-lines --strict-whitespace %s < $(dirname %t)/z.txt
// RUN: od -A n -t d4 -N 8 $(dirname %t)/z.bin | FileCheck --check-prefix=BINARY %s
//
//      TEXT:3 2
// TEXT-NEXT: +1.000000000000000E+00 -2.500000000000000E+00
// TEXT-NEXT: +0.000000000000000E+00 +0.000000000000000E+00
// TEXT-NEXT: +1.000000000000000E-300 +3.333333333333333E-01
// BINARY: 3 2
// A program may have such names before the header.
#define N 3
#define I 7
#include "op_seq.h"
#undef N
#undef I

int main(int argc, char **argv) {
  // Before op_init, and for free() to take back.
  char *early = (char *)op_malloc(100);
  // CHECK: aligned 0
  printf("aligned %d\n", (int)((size_t)early % 64));
  free(early);
  op_init(argc, argv, 0);
  op_set set = op_decl_set(3, "set"), part = op_decl_set(2, "part");

  double z[] = {1, -2.5, -0.0, 0, 1e-300, 1.0 / 3};
  op_dat dat = op_decl_dat(set, 2, "double", z, "z");
  op_print_dat_to_txtfile(dat, "z.txt");
  op_print_dat_to_binfile(dat, "z.bin");

  // No more than asked for is written.
  double some[3] = {7, 7, 7};
  op_fetch_data_idx(dat, some, 2, 2);
  // CHECK: some 1e-300 0.333333 7
  op_printf("some %g %g %g\n", some[0], some[1], some[2]);

  op_dat over = op_decl_dat_overlay(part, dat);
  op_par_loop(+[](double *x) { x[0] = 42; }, "overlay", part,
              op_arg_dat(over, -1, OP_ID, 2, "double", OP_RW));
  double all[6];
  op_fetch_data(dat, all);
  // CHECK: overlay 42 42 1e-300
  op_printf("overlay %g %g %g\n", all[0], all[2], all[4]);

  uint u[3] = {4000000000u, 1, 2};
  ll l[3] = {-5000000000ll, 1, 2};
  ull v[3] = {18000000000000000000ull, 1, 2};
  bool b[3] = {true, false, true};
  float f[3] = {1.5f, 2, 3};
  op_decl_dat(set, 1, "uint", u, "u");
  op_decl_dat(set, 1, "ll", l, "l");
  op_decl_dat(set, 1, "ull", v, "v");
  op_dat flags = op_decl_dat(set, 1, "bool", b, "b");
  op_decl_dat(set, 1, "float:soa", f, "f");
  b[0] = false;  // a copy was taken
  bool back[3];
  op_fetch_data(flags, back);
  // CHECK: flags 1 0 1
  op_printf("flags %d %d %d\n", back[0], back[1], back[2]);

  op_dat temporary = op_decl_dat_temp(set, 3, "double", (double *)NULL, "temporary");
  op_dat_entry *entry;
  // CHECK: lists 2 0 z z u l v b f temporary
  op_printf("lists %d %d", OP_set_index, OP_map_index);
  TAILQ_FOREACH(entry, &OP_dat_list, entries)
    op_printf(" %s", entry->dat->name);
  // CHECK: freed 1 -1
  op_printf("\nfreed %d", op_free_dat_temp(temporary));
  op_printf(" %d\n", op_free_dat_temp(temporary));
  // CHECK: last f
  op_dat_entry *last = *((Double_linked_list *)OP_dat_list.tqh_last)->tqh_last;
  op_printf("last %s\n", last->dat->name);
  // CHECK: sizes 3 2
  op_printf("sizes %lld %d\n", op_get_size(set), op_size_of_set("part"));
  op_exit();
  return 0;
}
