// What is wrong with a file ends the program, with a message that names the file, the dataset, and what is wrong.
//
// REQUIRES: h5import libhdf5
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: cd $(dirname %t) && printf 'a\nb\n' > words.txt && printf 'PATH words\nINPUT-CLASS STR\n' > words.conf && h5import words.txt -c words.conf -o words.h5
// RUN: cd $(dirname %t) && echo 'no HDF5' > text.h5 && %t 0
// RUN: cd $(dirname %t) && for n in $(seq 1 25); do %t $n 2>&1; echo "exit $?"; done | FileCheck --match-full-lines %s
// RUN: cd $(dirname %t) && printf 'int H5open(void) { return OPENS; }\nint H5get_libversion(unsigned *a, unsigned *b, unsigned *c) { return *a = 1, *b = 8, *c = 22, 0; }\n' > fake.c && clang-22 -shared -fPIC -DOPENS=0 fake.c -o old.so && clang-22 -shared -fPIC -DOPENS=-1 fake.c -o dead.so
// RUN: cd $(dirname %t) && (OKL_HDF5=/nowhere.so not %t 3; OKL_HDF5=libm.so.6 not %t 3; OKL_HDF5=$PWD/old.so not %t 3; OKL_HDF5=$PWD/dead.so not %t 3) 2>&1 | FileCheck --check-prefix=LIBRARY %s
//
// Where ranks have the file together, the texts are the same, but for what the system says; and one rank that finds something
// wrong ends all.
// RUN: cd $(dirname %t) && for n in 2 3 10 12 15 20 24; do %t $n 2> one.txt; grep ^okl: one.txt > one && (mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; true) | grep ^okl: | cmp - one || exit 1; done
// RUN: cd $(dirname %t) && for n in 25 26 27; do timeout 30 mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; echo "exit $?"; done | grep '^okl:\|^exit' | FileCheck --check-prefix=RANKS --match-full-lines %s
// RUN: cd $(dirname %t) && export OKL_HDF5=libhdf5_serial.so.103 && for n in 12 27; do timeout 30 mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; echo "exit $?"; done | grep '^okl:\|^exit' | FileCheck --check-prefix=ALONE --match-full-lines %s
//
// LIBRARY:      okl: op_decl_set_hdf5 cells: f.h5: OKL_HDF5: the library cannot be loaded: /nowhere.so: {{.*}}
// LIBRARY-NEXT: okl: op_decl_set_hdf5 cells: f.h5: OKL_HDF5=libm.so.6: it has no H5get_libversion: it is no HDF5
// LIBRARY-NEXT: okl: op_decl_set_hdf5 cells: f.h5: OKL_HDF5={{.*}}/old.so: HDF5 1.8.22 is too old: 1.10 is needed
// LIBRARY-NEXT: okl: op_decl_set_hdf5 cells: f.h5: OKL_HDF5={{.*}}/dead.so: it does not start
// RANKS:      okl: op_dump_to_hdf5: none/new.h5: the file cannot be opened: MPI_File_open failed: {{.*}}
// RANKS-NEXT: exit 70
// RANKS-NEXT: okl: rank 2: op_fetch_data_hdf5_file number: new.h5: the dataset cannot be written: {{.*}}
// RANKS-NEXT: exit 70
// RANKS-NEXT: okl: op_fetch_data_hdf5_file x: f.h5: rank 1 asks for something else: all ranks name the same file, and the same in it
// RANKS-NEXT: exit 70
// RANKS-NOT:  {{.}}
// ALONE:      okl: op_decl_map_hdf5 map: f.h5: element 1 of two points to 3 in column 1; nodes has the elements 0 to 2
// ALONE-NEXT: exit 70
// ALONE-NEXT: okl: op_fetch_data_hdf5_file x: f.h5: rank 1 asks for something else: all ranks name the same file, and the same in it
// ALONE-NEXT: exit 70
// ALONE-NOT:  {{.}}
#include "op_seq.h"

struct point { double x, y; };

static void write() {
  op_set cells = op_decl_set(2, "cells"), nodes = op_decl_set(3, "nodes"), more = op_decl_set(4, "more");
  int numbers[] = {0, 1, 1, 3};
  op_decl_map(cells, more, 2, numbers, "map");
  double x[] = {1, 2.5, 1e300};
  op_decl_dat(nodes, 1, "double", x, "x");
  ll wide[] = {1, 5000000000ll};
  op_decl_dat(cells, 1, "ll", wide, "wide");
  op_decl_dat(cells, 1, "int", numbers, "group/n");
  op_dump_to_hdf5("f.h5");
  int many = -3;
  op_write_const_hdf5("negative", 1, "int", (char *)&many, "f.h5");
}

int main(int argc, char **argv) {
  int which = atoi(argv[1]);
  op_init(argc, argv, 0);
  if (which == 0) {
    write();
    op_exit();
    return 0;
  }
  char const *file = "f.h5";
  op_set two = op_decl_set(2, "two"), nodes = op_decl_set(3, "nodes"), three = op_decl_set(3, "three");
  double value;
  if (which == 1)
    op_decl_set_hdf5("none.h5", "cells");
  // CHECK:      okl: op_decl_set_hdf5 cells: none.h5: there is no such file
  // CHECK-NEXT: exit 70
  if (which == 2)
    op_decl_set_hdf5("text.h5", "cells");
  // CHECK-NEXT: okl: op_decl_set_hdf5 cells: text.h5: the file cannot be opened: {{.*signature.*}}
  // CHECK-NEXT: exit 70
  if (which == 3)
    op_decl_set_hdf5(file, "cells"), op_decl_set_hdf5(file, "faces");
  // CHECK-NEXT: okl: op_decl_set_hdf5 faces: f.h5: the file has no such dataset
  // CHECK-NEXT: exit 70
  if (which == 4)
    op_decl_set_hdf5(file, "map");
  // CHECK-NEXT: okl: op_decl_set_hdf5 map: f.h5: the dataset holds 4 values, not a size
  // CHECK-NEXT: exit 70
  if (which == 5)
    op_decl_set_hdf5(file, "negative");
  // CHECK-NEXT: okl: op_decl_set_hdf5 negative: f.h5: a set of -3 elements
  // CHECK-NEXT: exit 70
  if (which == 6)
    op_decl_set_hdf5(file, "group");
  // CHECK-NEXT: okl: op_decl_set_hdf5 group: f.h5: {{.*not a dataset.*}}
  // CHECK-NEXT: exit 70
  if (which == 7)
    op_decl_set_hdf5_infer_size(file, "set", "group/none");
  // CHECK-NEXT: okl: op_decl_set_hdf5_infer_size set: f.h5: group/none: the file has no such dataset
  // CHECK-NEXT: exit 70
  if (which == 8)
    op_decl_map_hdf5(two, NULL, 2, file, "map");
  // CHECK-NEXT: okl: op_decl_map_hdf5 map: f.h5: a set is missing
  // CHECK-NEXT: exit 70
  if (which == 9)
    op_decl_map_hdf5(three, nodes, 2, file, "map");
  // CHECK-NEXT: okl: op_decl_map_hdf5 map: f.h5: the dataset has 2 rows, three has 3 elements
  // CHECK-NEXT: exit 70
  if (which == 10)
    op_decl_map_hdf5(two, nodes, 3, file, "map");
  // CHECK-NEXT: okl: op_decl_map_hdf5 map: f.h5: the dataset has 2 columns, not 3
  // CHECK-NEXT: exit 70
  if (which == 11)
    op_decl_map_hdf5(three, nodes, 1, file, "x");
  // CHECK-NEXT: okl: op_decl_map_hdf5 x: f.h5: the dataset holds numbers of 64 bits, and cannot be read as "ll": {{.*}}
  // CHECK-NEXT: exit 70
  if (which == 12)
    op_decl_map_hdf5(two, nodes, 2, file, "map");
  // CHECK-NEXT: okl: op_decl_map_hdf5 map: f.h5: element 1 of two points to 3 in column 1; nodes has the elements 0 to 2
  // CHECK-NEXT: exit 70
  if (which == 13)
    op_decl_dat_hdf5(two, 1, "double", file, "x");
  // CHECK-NEXT: okl: op_decl_dat_hdf5 x: f.h5: the dataset has 3 rows, two has 2 elements
  // CHECK-NEXT: exit 70
  if (which == 14)
    op_decl_dat_hdf5(three, 1, "point", file, "x");
  // CHECK-NEXT: okl: op_decl_dat_hdf5 x: f.h5: HDF5 files hold no values of the type "point"
  // CHECK-NEXT: exit 70
  if (which == 15)
    op_decl_dat_hdf5(three, 1, "float", file, "x");
  // CHECK-NEXT: okl: warning: op_decl_dat_hdf5 x: f.h5: the dataset holds numbers of 64 bits, rounded here to "float"
  // CHECK-NEXT: okl: op_decl_dat_hdf5 x: f.h5: the dataset holds numbers of 64 bits, and cannot be read as "float": {{.*}}
  // CHECK-NEXT: exit 70
  if (which == 16)
    op_decl_dat_hdf5(two, 1, "int", file, "wide");
  // CHECK-NEXT: okl: op_decl_dat_hdf5 wide: f.h5: the dataset holds integers of 64 bits, and cannot be read as "int": {{.*}}
  // CHECK-NEXT: exit 70
  if (which == 17)
    op_decl_dat_hdf5(two, 1, "int", "words.h5", "words");
  // CHECK-NEXT: okl: op_decl_dat_hdf5 words: words.h5: the dataset holds strings of {{.*}} bits, not values of type "int"
  // CHECK-NEXT: exit 70
  if (which == 18)
    op_get_const_hdf5("x", 1, "double", (char *)&value, file);
  // CHECK-NEXT: okl: op_get_const_hdf5 x: f.h5: the dataset holds 3 values, not 1
  // CHECK-NEXT: exit 70
  if (which == 19)
    op_get_const_hdf5("y", 1, "double", (char *)&value, file);
  // CHECK-NEXT: okl: op_get_const_hdf5 y: f.h5: the file has no such dataset
  // CHECK-NEXT: exit 70
  if (which == 20)
    op_write_const_hdf5("x", 1, "double", (char *)&value, file);
  // CHECK-NEXT: okl: op_write_const_hdf5 x: f.h5: the file has a dataset of that name with 3 x 1 numbers of 64 bits, which cannot be replaced
  // CHECK-NEXT: exit 70
  point points[3] = {};
  op_dat other = op_decl_dat_char(nodes, 1, "point", sizeof(point), (char *)points, "points");
  if (which == 21)
    op_dump_to_hdf5("new.h5");
  // CHECK-NEXT: okl: op_dump_to_hdf5: new.h5: points: HDF5 files hold no values of the type "point"
  // CHECK-NEXT: exit 70
  if (which == 22)
    op_fetch_data_hdf5_file(other, "new.h5");
  // CHECK-NEXT: okl: op_fetch_data_hdf5_file points: new.h5: HDF5 files hold no values of the type "point"
  // CHECK-NEXT: exit 70
  op_free_dat_temp(other);
  if (which == 23)
    op_fetch_data_hdf5_file(NULL, "new.h5");
  // CHECK-NEXT: okl: op_fetch_data_hdf5_file: the dat is missing
  // CHECK-NEXT: exit 70
  op_decl_dat(nodes, 1, "double", (double *)NULL, "nodes");
  if (which == 24)
    op_dump_to_hdf5("new.h5");
  // CHECK-NEXT: okl: op_dump_to_hdf5: new.h5: nodes: there is something of that name already
  // CHECK-NEXT: exit 70
  if (which == 25)
    op_dump_to_hdf5("none/new.h5");
  // CHECK-NEXT: okl: op_dump_to_hdf5: none/new.h5: the file cannot be opened: {{.*}}
  // CHECK-NEXT: exit 70
  int rank;
  op_rank(&rank);
  if (which == 26) {
    // The last number is none of the dataset's, which is an int.
    int number = 1;
    int small[3] = {1, 2, 3};
    uint large[3] = {1, 2, 4000000000u};
    remove("new.h5"), op_barrier();
    op_dat first = op_decl_dat(three, 1, "int", small, "number");
    op_fetch_data_hdf5_file(first, "new.h5");
    op_free_dat_temp(first);
    op_fetch_data_hdf5_file(op_decl_dat(three, 1, "uint", large, "number"), "new.h5");
    op_write_const_hdf5("more", 1, "int", (char *)&number, "new.h5");
  }
  if (which == 27)
    op_fetch_data_hdf5_file(op_decl_dat_hdf5(nodes, 1, "double", file, "x"), rank == 1 ? "g.h5" : file);
  op_exit();
  return 0;
}
