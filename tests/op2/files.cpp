// Files in HDF5: the layout is OP2's; what is read is what was written; several ranks write the file that one writes.
//
// REQUIRES: h5dump h5diff libhdf5
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: rm -f %t.h5 && %t write %t.h5
// RUN: h5dump %t.h5 | FileCheck --match-full-lines %s
// RUN: %t read %t.h5 %t.1.h5 | FileCheck --check-prefix=READ %s
// RUN: h5diff %t.h5 %t.1.h5
// RUN: for n in 2 3; do mpirun --allow-run-as-root --oversubscribe -n $n %t read %t.h5 %t.$n.h5 | FileCheck --check-prefix=READ %s && h5diff %t.h5 %t.$n.h5 || exit 1; done
// RUN: for n in 2 3; do h5diff %t.1.h5.after %t.$n.h5.after && h5diff %t.1.h5.all %t.$n.h5.all || exit 1; done
// RUN: h5dump -d /results/x %t.3.h5.after | FileCheck --check-prefix=AFTER --match-full-lines %s
// RUN: %t write %t.base.h5 OP_MAPS_BASE_INDEX=1 && h5diff %t.h5 %t.base.h5 /cells /cells
// RUN: h5dump -d ends %t.base.h5 | FileCheck --check-prefix=BASE %s
// RUN: %t read %t.base.h5 %t.base.1.h5 OP_MAPS_BASE_INDEX=1 OP_NO_REALLOC | FileCheck --check-prefix=READ %s
// RUN: h5diff %t.base.h5 %t.base.1.h5
//
// The library may be named, or be the program's own.
// RUN: ldd $(command -v h5dump) | awk '/libhdf5[a-z]*(_serial)?\.so/ { print $3 }' > %t.library
// RUN: OKL_HDF5=$(cat %t.library) %t read %t.h5 %t.named.h5 | FileCheck --check-prefix=READ %s
// RUN: clang++-22 -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -Wl,--no-as-needed $(cat %t.library) -o %t.linked
// RUN: %t.linked read %t.h5 %t.linked.h5 | FileCheck --check-prefix=READ %s
//
// CHECK:        DATASET "cells" {
// CHECK-NEXT:      DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:      DATASPACE  SIMPLE { ( 1 ) / ( 1 ) }
// CHECK-NEXT:      DATA {
// CHECK-NEXT:      (0): 4
// CHECK-NEXT:      }
// CHECK-NEXT:   }
// CHECK-NEXT:   DATASET "ends" {
// CHECK-NEXT:      DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:      DATASPACE  SIMPLE { ( 4, 2 ) / ( 4, 2 ) }
// CHECK-NEXT:      DATA {
// CHECK-NEXT:      (0,0): 0, 4,
// CHECK-NEXT:      (1,0): 4, 1,
// CHECK-NEXT:      (2,0): 1, 3,
// CHECK-NEXT:      (3,0): 3, 2
// CHECK-NEXT:      }
// CHECK-NEXT:      ATTRIBUTE "dim" {
// CHECK-NEXT:         DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:         DATASPACE  SIMPLE { ( 1 ) / ( 1 ) }
// CHECK-NEXT:         DATA {
// CHECK-NEXT:         (0): 2
// CHECK-NEXT:         }
// CHECK-NEXT:      }
// CHECK-NEXT:      ATTRIBUTE "size" {
// CHECK-NEXT:         DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:         DATASPACE  SIMPLE { ( 1 ) / ( 1 ) }
// CHECK-NEXT:         DATA {
// CHECK-NEXT:         (0): 4
// CHECK-NEXT:         }
// CHECK-NEXT:      }
// CHECK-NEXT:      ATTRIBUTE "type" {
// CHECK-NEXT:         DATATYPE  H5T_STRING {
// CHECK-NEXT:            STRSIZE 10;
// CHECK-NEXT:            STRPAD H5T_STR_NULLTERM;
// CHECK-NEXT:            CSET H5T_CSET_ASCII;
// CHECK-NEXT:            CTYPE H5T_C_S1;
// CHECK-NEXT:         }
// CHECK-NEXT:         DATASPACE  SCALAR
// CHECK-NEXT:         DATA {
// CHECK-NEXT:         (0): "int"
// CHECK-NEXT:         }
// CHECK-NEXT:      }
// CHECK-NEXT:   }
// CHECK:        DATASET "gam" {
// CHECK-NEXT:      DATATYPE  H5T_IEEE_F64LE
// CHECK-NEXT:      DATASPACE  SIMPLE { ( 2 ) / ( 2 ) }
// CHECK-NEXT:      DATA {
// CHECK-NEXT:      (0): 1.5, -2
// CHECK-NEXT:      }
// CHECK-NEXT:      ATTRIBUTE "dim" {
// CHECK-NEXT:         DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:         DATASPACE  SIMPLE { ( 1 ) / ( 1 ) }
// CHECK-NEXT:         DATA {
// CHECK-NEXT:         (0): 2
// CHECK-NEXT:         }
// CHECK-NEXT:      }
// CHECK-NEXT:      ATTRIBUTE "type" {
// CHECK-NEXT:         DATATYPE  H5T_STRING {
// CHECK-NEXT:            STRSIZE 6;
// CHECK:                 DATASPACE  SCALAR
// CHECK-NEXT:         DATA {
// CHECK-NEXT:         (0): "double"
// CHECK-NEXT:         }
// CHECK-NEXT:      }
// CHECK-NEXT:   }
// CHECK-NEXT:   GROUP "group" {
// CHECK-NEXT:      GROUP "inner" {
// CHECK-NEXT:         DATASET "x" {
// CHECK-NEXT:            DATATYPE  H5T_IEEE_F64LE
// CHECK-NEXT:            DATASPACE  SIMPLE { ( 5, 2 ) / ( 5, 2 ) }
// CHECK:                 ATTRIBUTE "size" {
// CHECK-NEXT:               DATATYPE  H5T_STD_I32LE
// CHECK-NEXT:               DATASPACE  SIMPLE { ( 1 ) / ( 1 ) }
// CHECK-NEXT:               DATA {
// CHECK-NEXT:               (0): 16
// CHECK:                 ATTRIBUTE "type" {
// CHECK-NEXT:               DATATYPE  H5T_STRING {
// CHECK-NEXT:                  STRSIZE 10;
// CHECK:                       (0): "double:soa"
//
// READ: sizes 4 5 5
// READ: ends 0 4 4 1 1 3 3 2
// READ: types 1.5 4000000000 -5000000000 18000000000000000000 1 0 7
// READ: constant 1.5 -2
// READ: converted 1.5 -2 7
// READ: missing 1 1
// READ: later 0 1
//
// AFTER:   (0,0): 1, 100,
// AFTER:   (1,0): 3, 102,
// AFTER:   (2,0): 3, 104,
// AFTER:   (3,0): 5, 106,
// AFTER:   (4,0): 6, 108
//
// BASE: (0,0): 1, 5,
#include "op_seq.h"

static void add(double *left, double *right) { *left += 1, *right += 1; }

static void increase(double const *by, double *x) { x[0] += *by; }

static void write(char const *file) {
  op_set cells = op_decl_set(4, "cells"), nodes = op_decl_set(5, "nodes"), none = op_decl_set(0, "none");
  int ends[] = {0, 4, 4, 1, 1, 3, 3, 2};
  for (int &one : ends)
    one += OP_maps_base_index;
  op_decl_map(cells, nodes, 2, ends, "ends");
  op_decl_map(none, nodes, 3, ends, "of_none");
  double x[] = {0, 100, 1, 102, 2, 104, 3, 106, 4, 108};
  op_dat at = op_decl_dat(nodes, 2, "double:soa", x, "/group/inner/x");
  float f[] = {1.5f, 2, 3, 4};
  uint u[] = {4000000000u, 1, 2, 3};
  ll l[] = {-5000000000ll, 1, 2, 3};
  ull v[] = {18000000000000000000ull, 1, 2, 3};
  bool b[] = {true, false, true, false};
  int n[] = {7, 8, 9, 10};
  op_decl_dat(cells, 1, "float", f, "f");
  op_decl_dat(cells, 1, "uint", u, "u");
  op_decl_dat(cells, 1, "ll", l, "l");
  op_decl_dat(cells, 1, "ull", v, "group/v");
  op_decl_dat(cells, 1, "bool", b, "b");
  op_decl_dat(cells, 1, "int", n, "n");
  op_decl_dat_overlay(nodes, at);
  op_dump_to_hdf5(file);
  double gam[] = {0, 0};
  op_write_const_hdf5("gam", 2, "double", (char *)gam, file);
  gam[0] = 1.5, gam[1] = -2;
  op_write_const_hdf5("gam", 2, "real(8)", (char *)gam, file);
}

static void read(char const *file, char const *out) {
  op_set cells = op_decl_set_hdf5(file, "cells"), nodes = op_decl_set_hdf5(file, "nodes"),
         none = op_decl_set_hdf5(file, "none");
  op_map ends = op_decl_map_hdf5(cells, nodes, 2, file, "ends");
  op_decl_map_hdf5(none, nodes, 3, file, "of_none");
  op_dat x = op_decl_dat_hdf5(nodes, 2, "double:soa", file, "/group/inner/x");
  op_dat f = op_decl_dat_hdf5(cells, 1, "float", file, "f"), u = op_decl_dat_hdf5(cells, 1, "uint", file, "u"),
         l = op_decl_dat_hdf5(cells, 1, "ll", file, "l"), v = op_decl_dat_hdf5(cells, 1, "ull", file, "group/v"),
         b = op_decl_dat_hdf5(cells, 1, "bool", file, "b"), n = op_decl_dat_hdf5(cells, 1, "int", file, "n");
  op_dump_to_hdf5(out);
  double constant[2];
  op_get_const_hdf5("gam", 2, "double", (char *)constant, file);
  op_write_const_hdf5("gam", 2, "double", (char *)constant, out);

  op_set inferred = op_decl_set_hdf5_infer_size(file, "inferred", "/group/inner/x");
  op_printf("sizes %d %d %d\n", cells->size, nodes->size, inferred->size);
  op_printf("ends %d %d %d %d %d %d %d %d\n", ends->map[0], ends->map[1], ends->map[2], ends->map[3], ends->map[4],
            ends->map[5], ends->map[6], ends->map[7]);
  op_printf("types %g %u %lld %llu %d %d %d\n", *(float *)f->data, *(uint *)u->data, *(ll *)l->data, *(ull *)v->data,
            b->data[0], b->data[1], *(int *)n->data);
  op_printf("constant %g %g\n", constant[0], constant[1]);
  // Values that both types have.
  float rounded[2];
  op_get_const_hdf5("gam", 2, "float", (char *)rounded, file);
  op_dat as_double = op_decl_dat_hdf5(cells, 1, "double", file, "n");
  op_printf("converted %g %g %g\n", rounded[0], rounded[1], *(double *)as_double->data);
  op_free_dat_temp(as_double);
  op_printf("missing %d %d\n", op_decl_map_hdf5(cells, nodes, 2, file, "group/ends") == NULL,
            op_decl_dat_hdf5(cells, 1, "int", file, "none/n") == NULL);

  op_dat count = op_decl_dat(nodes, 1, "double", (double *)NULL, "count");
  op_partition("", "", cells, ends, x);
  op_par_loop(add, "add", cells, op_arg_dat(count, 0, ends, 1, "double", OP_INC),
              op_arg_dat(count, 1, ends, 1, "double", OP_INC));
  op_par_loop(increase, "increase", nodes, op_arg_dat(count, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW));
  char after[1000], all[1000];
  snprintf(after, sizeof after, "%s.after", out), snprintf(all, sizeof all, "%s.all", out);
  op_dump_to_hdf5(all);
  // Data that come when the mesh is in parts.
  op_dat again = op_decl_dat_hdf5(nodes, 2, "double", file, "group/inner/x");
  double fetched[10];
  op_fetch_data(again, fetched);
  op_printf("later %g %g\n", fetched[0], fetched[2]);
  op_fetch_data_hdf5_file(again, after);
  op_fetch_data_hdf5_file_path(again, after, "/results/x");
  op_fetch_data_hdf5_file_path(x, after, "/results/x");
  op_dat copy = op_fetch_data_file_char(x);
  if (copy->set->size != 5 || copy->dim != 2 || copy->size != 16 || ((double *)copy->data)[9] != 108)
    op_printf("the copy is wrong\n");
  free(copy->data), free(copy->set), free(copy);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  if (strcmp(argv[1], "write") == 0)
    write(argv[2]);
  else
    read(argv[2], argv[3]);
  op_exit();
  return 0;
}
