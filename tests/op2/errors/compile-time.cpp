// Loops that do not do what they say: errors where that is wrong in every run, warnings where it may be meant,
// each at the line of the loop.
//
// RUN: not clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: not clang++-22 -std=c++17 -O0 -g -I%op2-include -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s
#include "op_seq.h"

static void reads(float const *x) { (void)*x; }
static void writes(double *x) { *x = 1; }
static void adds(double *x, double const *y) { *x += 2 * *y; }
static void subtracts(double *x, double const *y) { *x -= *y; }
static void keeps(double const *x) { (void)*x; }
static void grows(double *x) {
  if (*x < 10)
    *x += 1;
}
static void nothing(double *x) { (void)x; }
static void several(double const **x) { (void)x[0][0]; }
static void greatest(double const *x, double *most) {
  if (*x > *most)
    *most = *x;
}
static void last(double const *x, double *most) { *most = *x; }

static void counts(int *, int *) {}

static op_set faces;

// What is declared in this file is known, where nothing else can be meant.
void sets(int *numbers, double *values, bool is_other) {
  op_set corners = op_decl_set(4, "corners"), sides = op_decl_set(4, "sides"), either = op_decl_set(1, "either");
  faces = op_decl_set(2, "faces");
  if (is_other)
    either = op_decl_set(2, "either");
  op_map ends = op_decl_map(sides, corners, 2, numbers, "ends");
  op_dat at = op_decl_dat(corners, 1, "double", values, "at"), of_face = op_decl_dat(faces, 1, "double", values, "of_face");
  op_dat some = op_decl_dat(either, 1, "double", values, "some");
  int number = 0;
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is data on set corners without a map, but the loop is over set sides
  op_par_loop(writes, "", sides, op_arg_dat(at, -1, OP_ID, 1, "double", OP_WRITE));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has a map that begins at set sides, but the loop is over set corners
  op_par_loop(adds, "", corners, op_arg_dat(at, 0, ends, 1, "double", OP_INC), op_arg_dat(at, -1, OP_ID, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is data on set faces, but its map leads to set corners
  op_par_loop(keeps, "", sides, op_arg_dat(of_face, 1, ends, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has a map that begins at set sides, but the loop is over set faces
  op_par_loop(counts, "", faces, op_arg_idx(0, ends), op_arg_gbl(&number, 1, "int", OP_RW));
  // Right, or not known.
  op_par_loop(writes, "", corners, op_arg_dat(at, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(writes, "", faces, op_arg_dat(of_face, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(writes, "", either, op_arg_dat(some, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(writes, "", faces, op_arg_dat(some, -1, OP_ID, 1, "double", OP_WRITE));
}

void program(op_set cells, op_set nodes, int *numbers, double *values) {
  op_map map = op_decl_map(cells, nodes, 2, numbers, "map");
  op_dat dat = op_decl_dat(nodes, 1, "double", values, "dat");
  double sum = 0;
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is of type "double", but the kernel's parameter is float const*
  op_par_loop(reads, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is OP_READ, but the kernel writes it
  op_par_loop(writes, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is OP_INC, but the kernel's parameter is const
  op_par_loop(keeps, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_INC));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has dimension 2, but the data were declared with 1
  op_par_loop(writes, "", nodes, op_arg_dat(dat, -1, OP_ID, 2, "double", OP_WRITE));
  // CHECK: compile-time.cpp:[[#@LINE+2]]:3: error: op_par_loop: arg0 is of type "float", but the data were declared as "double"
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 is of type "float", but the kernel's parameter is double*
  op_par_loop(writes, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "float", OP_WRITE));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 has index 2, but the map was declared with 2 columns
  op_par_loop(keeps, "", cells, op_arg_dat(dat, 2, map, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 stands for several elements, but the kernel's parameter is double const*, no array of pointers
  op_par_loop(keeps, "", cells, op_arg_dat(dat, -2, map, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg0 stands for one element, but the kernel's parameter is double const**
  op_par_loop(several, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_READ));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: error: op_par_loop: arg1 is OP_READ, but the kernel writes it
  op_par_loop([](double const *x, double *y) { *y = *x; }, "", nodes,
              op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_READ));

  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_RW, but the kernel's parameter is const: OP_READ is enough
  op_par_loop(keeps, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_RW));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_INC, but the kernel assigns to it: increments of other elements may be lost
  op_par_loop(writes, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_INC));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_INC, but the kernel reads it: its value depends on the order of the elements
  op_par_loop(grows, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_INC));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg0 is OP_WRITE, but the kernel does not write it
  op_par_loop(nothing, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_WRITE));
  // CHECK: compile-time.cpp:[[#@LINE+1]]:3: warning: op_par_loop: arg1 is OP_MAX, but the kernel assigns to it without comparing
  op_par_loop(last, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_MAX));

  // Nothing is wrong with these.
  op_arg made_before = op_arg_dat(dat, 1, map, 1, "double:soa", OP_READ);
  op_par_loop(adds, "", cells, op_arg_dat(dat, 0, map, 1, "double", OP_INC), made_before);
  op_par_loop(subtracts, "", cells, op_arg_gbl(&sum, 1, "double", OP_INC), made_before);
  op_par_loop(grows, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_INC));
  op_par_loop(greatest, "", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_MAX));
  op_par_loop(several, "", cells, op_arg_dat(dat, -2, map, 1, "double", OP_READ));
}
