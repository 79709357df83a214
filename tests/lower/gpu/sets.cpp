// Loops over sets on a device: each work item runs an element; what it adds through maps is added at once, what it only reads
// is read as nobody writes it, and blocks combine global arguments. What a device cannot run is told at its line.
//
// RUN: clang++-22 -std=c++17 -O2 -g -I%op2-include -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=.extern --implicit-check-not=error %s <%t.ptx
// RUN: clang++-22 -std=c++17 -O2 -g -I%op2-include -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - 2>%t.told | FileCheck --check-prefix=HOST %s
// RUN: FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s <%t.told
// RUN: not clang++-22 -std=c++17 -O2 -g -I%op2-include -fpass-plugin=%plugin -mllvm -okl-target=cuda -S -emit-llvm %s -o - 2>&1 >/dev/null | FileCheck --check-prefix=ALONE %s
#include "op_seq.h"
#include <cstdio>

double gravity;
int calls;
static void flux(double const *x0, double const *x1, double *sum, float *count) {
  sum[0] += gravity * (x1[0] - x0[1]), sum[1] += x0[0];
  *count += 1;
}

// Two rows of a map, read once each; four components and no more accesses of memory.
// CHECK-LABEL: .entry okl__ZL4fluxPKdS0_PdPf_0(
// CHECK:         .maxntid 256, 1, 1
// CHECK-NOT:     ld.global.b{{32|64}}
// CHECK-COUNT-2: ld.global.nc.b32
// CHECK-NOT:     ld.b
// CHECK:         ld.global.nc.b64
// CHECK:         atom.global.add.f64
// CHECK:         atom.global.add.f64
// CHECK:         atom.global.add.f32
// CHECK-NOT:     st.
// CHECK:         ret;
//
// For elements that do not add to the same at the same time:
// CHECK-LABEL: .entry okl__ZL4fluxPKdS0_PdPf_0_apart(
// CHECK-NOT:     atom.
// CHECK-COUNT-2: st.global.b64
// CHECK:         st.global.b32
// CHECK-NOT:     atom.
// CHECK:         ret;
//
// For blocks: work items leave what they add, of each component of the first argument, and one of them adds all that is for an
// element, which is read and written once.
// CHECK-LABEL: .entry okl__ZL4fluxPKdS0_PdPf_0_staged(
// CHECK-NOT:     atom.
// CHECK-NOT:     st.global
// CHECK:         st.shared.b64
// CHECK-NEXT:    st.shared.b64
// CHECK-NEXT:    bar.sync
// CHECK-NOT:     bar.sync
// CHECK:         ld.global.b64
// CHECK-NEXT:    ld.global.b64
// CHECK:         ld.shared.b64
// CHECK:         ld.shared.b64
// CHECK-NOT:     shared
// CHECK:         st.global.b64
// CHECK-NEXT:    st.global.b64
// CHECK:         bar.sync
// CHECK:         st.shared.b32
// CHECK-NEXT:    bar.sync
// CHECK:         ld.shared.b32
// CHECK:         st.global.b32
// CHECK-NOT:     bar.sync
// CHECK-NOT:     atom.
// CHECK:         ret;
//
// HOST: @okl.device.values = {{.*}} @gravity
// HOST: @okl.device.loop = {{.*}} @okl_gpu_launch_v6, ptr @okl_gpu_runs_v5
// HOST: call void @okl_op2_par_loop_v8({{.*}}, ptr nonnull @okl.device.loop, ptr null)
void edges(op_set set, op_map map, op_dat x, op_dat sum, op_dat count) {
  op_par_loop(flux, "flux", set, op_arg_dat(x, 0, map, 2, "double", OP_READ), op_arg_dat(x, 1, map, 2, "double", OP_READ),
              op_arg_dat(sum, 0, map, 2, "double", OP_INC), op_arg_dat(count, 1, map, 1, "float", OP_INC));
}

static void reduce(double const *x, double *sum, int *most) {
  *sum += x[0];
  *most = x[0] > *most ? (int)x[0] : *most;
}

// CHECK-LABEL: .entry okl__ZL6reducePKdPdPi_1(
// CHECK:         ld.global.nc.b64
// CHECK:         st.shared.b64
// CHECK:         bar.sync
// CHECK:         st.global.b64
// CHECK:         st.shared.b32
// CHECK:         st.global.b32
// CHECK:         ret;
void global(op_set set, op_dat x, double *sum, int *most) {
  op_par_loop(reduce, "reduce", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(sum, 1, "double", OP_INC),
              op_arg_gbl(most, 1, "int", OP_MAX));
}

static void numbered(int const *n, double const *maybe, double *sum) { *sum += maybe ? *maybe : *n; }

// What may be left out is accessed where it is there; so are numbers that the program knows elements by, where they are others.
// CHECK-LABEL: .entry okl__ZL8numberedPKiPKdPd_2(
// CHECK:         @%p{{[0-9]+}} bra
// CHECK:         ld.global.nc.b32
// CHECK:         ld.global.nc.b64
// CHECK:         atom.global.add.f64
// CHECK:         ret;
void optional(op_set set, op_map map, op_dat x, op_dat sum, int use) {
  op_par_loop(numbered, "numbered", set, op_arg_idx(-1, OP_ID), op_opt_arg_dat(use, x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, map, 1, "double", OP_INC));
}

// What moves elements between data and what is sent: each work item a piece.
// CHECK-LABEL: .entry okl_op2_halo(
// CHECK:         .maxntid 128, 1, 1
// CHECK:         ld.global.b64
// CHECK:         st.global.b64
// CHECK:         ld.global.b32
// CHECK:         st.global.b32
// CHECK:         ld.global.b8
// CHECK:         st.global.b8
// CHECK:         ret;

static void assigns(double const *x, double *y) { *y = *x; }
static void where(double const *x, double *most, int *at) { most[0] = *x > most[0] ? *x : most[0], *at = 1; }
static void prints(double const *x, double *y) { *y += printf("%g\n", *x); }
static void counts(double const *x, double *y) { *y += *x, calls++; }
static void adds(double const *x, double *y) { *y += *x; }

void not_there(op_set set, op_map map, op_dat x, op_dat y, double *all, int use, int dim) {
  // TOLD-DAG: sets.cpp:[[# @LINE + 3]]:3: warning: op_par_loop: arg1 is OP_INC, but the kernel assigns to it
  // TOLD-DAG: sets.cpp:[[# @LINE + 2]]:3: warning: this cannot run on a device, so the processor runs it: arg1 is OP_INC, and its kernel does not only add to it
  // ALONE: sets.cpp:[[# @LINE + 1]]:3: error: this cannot run on a device: arg1 is OP_INC, and its kernel does not only add to it
  op_par_loop(assigns, "assigns", set, op_arg_dat(x, 0, map, 1, "double", OP_READ), op_arg_dat(y, 0, map, 1, "double", OP_INC));
  // TOLD-DAG: sets.cpp:[[# @LINE - 9]]:{{[0-9]+}}: warning: this cannot run on a device, so the processor runs it: it calls printf, of which this file has no code
  op_par_loop(prints, "prints", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
  // TOLD-DAG: sets.cpp:[[# @LINE + 1]]:3: warning: this cannot run on a device, so the processor runs it: it may change calls
  op_par_loop(counts, "counts", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
  // TOLD-DAG: sets.cpp:[[# @LINE + 1]]:3: warning: this cannot run on a device, so the processor runs it: arg1 is a global argument that the kernel assigns
  op_par_loop(assigns, "global", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(all, 1, "double", OP_WRITE));
  // TOLD-DAG: sets.cpp:[[# @LINE + 1]]:3: warning: this cannot run on a device, so the processor runs it: arg2 is op_arg_info of what is not one value that is OP_MIN or OP_MAX
  op_par_loop(where, "where", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(all, 2, "double", OP_MAX),
              op_arg_info(&dim, 1, "int", 1));
}
