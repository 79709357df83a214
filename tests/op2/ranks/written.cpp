// All ranks write HDF5 files, each a block of rows, where the library is made for MPI; else rank 0 writes, and the user is told
// once. The files are those of one rank, to the last attribute, before and after the mesh is in parts and renumbered, for sets
// that are smaller than the job, and for datasets that are there already, also in compressed pieces; so is what is printed.
//
// REQUIRES: h5dump h5repack libhdf5_openmpi libhdf5_serial
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t %t.first BLOCK && h5repack -l /x:CHUNK=5x3 -f /x:GZIP=1 %t.first.data %t.1.data && h5dump -p -H -d x %t.1.data | grep DEFLATE
// RUN: %t %t.1 BLOCK && for n in 2 3 4; do cp %t.1.data %t.$n.data; done
// RUN: echo 'for kind in declared after data; do h5dump $1.1.$kind | sed 1d > $1.one && h5dump $1.$2.$kind | sed 1d | cmp - $1.one || exit 1; done; cmp $1.1.text $1.$2.text && cmp $1.1.bytes $1.$2.bytes' > %t.compare
// RUN: for n in 2 3 4; do for way in BLOCK PTSCOTCH; do mpirun --allow-run-as-root --oversubscribe -n $n %t %t.$n $way > %t.out 2>&1 && sh %t.compare %t $n && grep ranks %t.out || exit 1; done; done | FileCheck --match-full-lines %s
//
// Three ranks. In the order in which the mesh is declared, each has what it writes.
// CHECK:      op_dump_to_hdf5: {{.*}}.declared: 3 of 3 ranks write [[ALL:[0-9]+]] bytes of data, 0 of them from other ranks
// CHECK-NEXT: op_dump_to_hdf5: {{.*}}.after: 3 of 3 ranks write [[ALL]] bytes of data, [[NODES:[1-9][0-9]+]] of them from other ranks
// CHECK-NEXT: op_fetch_data_hdf5_file x: {{.*}}.data: 3 of 3 ranks write 408 bytes of data, 0 of them from other ranks
// CHECK-NEXT: op_fetch_data_hdf5_file /a/b/x: {{.*}}.data: 3 of 3 ranks write 408 bytes of data, 0 of them from other ranks
// CHECK-NEXT: op_fetch_data_hdf5_file few: {{.*}}.data: 2 of 3 ranks write 16 bytes of data, {{.*}}
// CHECK-NEXT: op_fetch_data_hdf5_file none_x: {{.*}}.data: 0 of 3 ranks write 0 bytes of data, 0 of them from other ranks
//
// Rank 0 alone: where the library has no MPI, there is none that has, or one rank has none or another MPI's.
// RUN: ldd $(command -v h5dump) | awk '/libhdf5[a-z]*(_serial)?\.so/ { print $3 }' > %t.library
// RUN: (OKL_HDF5=$(cat %t.library) mpirun --allow-run-as-root --oversubscribe -n 3 %t %t.3 "" > %t.out 2> %t.err) && sh %t.compare %t 3 && cat %t.err %t.out | grep ranks | FileCheck --check-prefixes=ALONE,NAMED --match-full-lines %s
// NAMED:      okl: warning: rank 0 writes HDF5 files for all ranks: OKL_HDF5={{.*}} is made without MPI
// LACKS:      okl: warning: rank 0 writes HDF5 files for all ranks: there is no HDF5 library for this MPI: install the Debian package libhdf5-openmpi-103-1 (libhdf5-openmpi-310 from Debian 13 on), or let OKL_HDF5 name the library
// ONE-LACKS:  okl: warning: rank 0 writes HDF5 files for all ranks: there is no HDF5 library for this MPI: install the Debian package libhdf5-openmpi-103-1 (libhdf5-openmpi-310 from Debian 13 on), or let OKL_HDF5 name the library (on rank 2)
// ALONE-NEXT: op_dump_to_hdf5: {{.*}}.declared: 1 of 3 ranks write [[ALL:[0-9]+]] bytes of data, 0 of them from other ranks
// ALONE-NEXT: op_dump_to_hdf5: {{.*}}.after: 1 of 3 ranks write [[ALL]] bytes of data, {{[1-9][0-9]+}} of them from other ranks
// ALONE-NOT:  warning
// RUN: rm -rf %t.none && mkdir %t.none && cd %t.none && touch libhdf5_openmpi.so.103 libhdf5_openmpi.so.310 libhdf5_openmpi.so
// RUN: (LD_LIBRARY_PATH=%t.none mpirun --allow-run-as-root --oversubscribe -n 3 %t %t.3 "" > %t.out 2> %t.err) && sh %t.compare %t 3 && cat %t.err %t.out | grep ranks | FileCheck --check-prefixes=ALONE,LACKS --match-full-lines %s
// RUN: cd %t.none && echo 'int PMPI_Init() { return 1; } int H5Pset_fapl_mpio() { return 1; }' > own.c && cc -shared -fPIC own.c -o libhdf5_openmpi.so.103
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.3 "" : -n 1 -x LD_LIBRARY_PATH=%t.none %t %t.3 "" > %t.out 2> %t.err) && sh %t.compare %t 3 && cat %t.err %t.out | grep ranks | FileCheck --check-prefixes=ALONE,ONE-LACKS --match-full-lines %s
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 1 -x OKL_HDF5=%t.none/libhdf5_openmpi.so.103 %t %t.none/x BLOCK 2>&1; true) | grep ^okl: | FileCheck --check-prefix=OTHER %s
// OTHER: okl: op_dump_to_hdf5: {{.*}}.declared: OKL_HDF5={{.*}}: it is made for another MPI
//
// One rank takes what there is.
// RUN: rm %t.none/* && cd %t.none && touch libhdf5_serial.so.103 libhdf5_serial.so.310 libhdf5_serial.so && cp %t.1.data %t.3.data && LD_LIBRARY_PATH=%t.none %t %t.3 BLOCK && sh %t.compare %t 3
#include "op_seq.h"

#include <string>

static void number(int const *element, double *x) {
  for (int k = 0; k < 3; k++)
    x[k] += *element + 100 * k;
}
static void add(double const *x, double *left, double *right) { *left += x[0], *right -= x[1]; }

int main(int argc, char **argv) {
  op_init(argc, argv, 2);
  std::string const out = argv[1];
  auto name = [&](char const *end) { return out + end; };
  int const CELLS = 17, NODES = 23;
  int ends[2 * CELLS], of_few[6] = {16, 0, 3, 5, 16, 1};
  for (int e = 0; e < 2 * CELLS; e++)
    ends[e] = e * 7 % NODES;
  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(NODES, "nodes"), few = op_decl_set(2, "pair"),
         none = op_decl_set(0, "none");
  op_map map = op_decl_map(cells, nodes, 2, ends, "ends");
  op_decl_map(few, cells, 3, of_few, "of_few"), op_decl_map(none, cells, 1, of_few, "of_none");
  double x[3 * CELLS], y[NODES];
  float f[CELLS];
  uint u[CELLS];
  ll l[CELLS];
  ull v[CELLS];
  bool b[CELLS];
  for (int n = 0; n < NODES; n++)
    y[n] = 0.5 * n;
  for (int c = 0; c < CELLS; c++) {
    x[3 * c] = c, x[3 * c + 1] = -c, x[3 * c + 2] = 0.25 * c;
    f[c] = 1.5f * c, u[c] = 4000000000u + c, l[c] = -5000000000ll - c, v[c] = 18000000000000000000ull + c, b[c] = c % 3 == 0;
  }
  op_dat at = op_decl_dat(cells, 3, "double:soa", x, "x"), of_nodes = op_decl_dat(nodes, 1, "double", y, "y");
  op_decl_dat(cells, 1, "float", f, "f"), op_decl_dat(cells, 1, "uint", u, "u"), op_decl_dat(cells, 1, "ll", l, "l");
  op_decl_dat(cells, 1, "ull", v, "group/v"), op_decl_dat(cells, 1, "bool", b, "b"), op_decl_dat(cells, 2, "int", ends, "n");
  op_dat of_pair = op_decl_dat(few, 1, "double", x, "few"), of_none = op_decl_dat(none, 2, "float", f, "none_x");
  op_dump_to_hdf5(name(".declared").c_str());

  op_partition(argv[2], "KWAY", cells, NULL, NULL);
  if (strcmp(argv[2], "PTSCOTCH") == 0)
    op_renumber(map);
  op_par_loop(number, "number", cells, op_arg_idx(-1, OP_ID), op_arg_dat(at, -1, OP_ID, 3, "double", OP_RW));
  op_par_loop(add, "add", cells, op_arg_dat(at, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(of_nodes, 0, map, 1, "double", OP_INC), op_arg_dat(of_nodes, 1, map, 1, "double", OP_INC));
  op_dump_to_hdf5(name(".after").c_str());
  double c[3] = {0, 0, 0};
  op_write_const_hdf5("c", 3, "double", (char *)c, name(".after").c_str());
  c[0] = 1, c[1] = -2.5, c[2] = 1e300;
  op_write_const_hdf5("c", 3, "double", (char *)c, name(".after").c_str());
  op_fetch_data_hdf5_file(at, name(".data").c_str());
  op_fetch_data_hdf5_file_path(at, name(".data").c_str(), "/a/b/x");
  op_fetch_data_hdf5_file(of_pair, name(".data").c_str());
  op_fetch_data_hdf5_file(of_none, name(".data").c_str());
  op_print_dat_to_txtfile(at, name(".text").c_str());
  op_print_dat_to_binfile(of_nodes, name(".bytes").c_str());
  op_exit();
  return 0;
}
