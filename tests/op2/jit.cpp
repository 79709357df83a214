// Loops that are compiled once more while the program runs: results are those of the code as it was compiled ahead of time,
// bit for bit, whatever processor that was for, and whichever values constants have, also where they change between calls.
// Each value has a version, the same value the same one; values that change often are given up.
//
// RUN: %okl-c++ -std=c++11 -O3 --okl-jit %s -o %t
// RUN: OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 OMP_NUM_THREADS=1 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck %s < %t.told
// RUN: OKL_JIT=1 OMP_NUM_THREADS=1 %t > %t.1 && cmp %t.0 %t.1
// RUN: OKL_JIT=0 OP_AUTO_SOA=1 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=sync OP_AUTO_SOA=1 OMP_NUM_THREADS=1 %t > %t.sync && cmp %t.0 %t.sync
// RUN: for n in 0 sync; do OKL_JIT=$n OKL_REPRODUCIBLE=1 OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.$n || exit 1; done && cmp %t.0 %t.sync
// What one run has had made the next one loads; not what is damaged, and nothing where others could have written it:
// RUN: rm -rf %t.cache && export OKL_JIT_CACHE=%t.cache OMP_NUM_THREADS=1 && OKL_JIT=0 %t > %t.0 && for way in cold warm damaged others; do case $way in damaged) for f in %t.cache/*; do truncate -s -1 $f; done ;; others) chmod o+w %t.cache ;; esac; OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.$way && cmp %t.0 %t.1 || exit 1; done
// RUN: for way in cold damaged others; do FileCheck --implicit-check-not='from the cache' %s < %t.$way || exit 1; done; FileCheck --check-prefix=WARM --implicit-check-not='made in' %s < %t.warm && FileCheck --check-prefix=OTHERS %s < %t.others
// Ranks make one version each:
// RUN: rm -rf %t.cache && OKL_JIT_CACHE=%t.cache OKL_JIT=sync OKL_STATS=1 OKL_REPRODUCIBLE=1 OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | grep -o 'made in\|from the cache' | sort | uniq -c > %t.told && ls %t.cache | wc -l >> %t.told && FileCheck --check-prefix=RANKS %s < %t.told
// RUN: %okl-c++ -std=c++11 -O3 -march=haswell --okl-jit %s -o %t
// RUN: OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && OKL_JIT=sync OMP_NUM_THREADS=1 %t > %t.sync && cmp %t.0 %t.sync
// RUN: (OKL_JIT=yes %t 2>&1 || true) | FileCheck --check-prefix=WRONG %s
// Where what compiles is missing, the program runs as it is:
// RUN: mkdir -p %t.d && cp %runtime-dir/libokl_op2.so %t.d && OKL_JIT=0 OMP_NUM_THREADS=1 %t > %t.0 && LD_LIBRARY_PATH=%t.d OKL_JIT=sync OKL_STATS=1 OMP_NUM_THREADS=1 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck --check-prefix=MISSING %s < %t.told
// On a device, emulated:
// RUN: %okl-c++ -std=c++11 -O3 --okl-jit --okl-target=cuda,cpu %s -o %t && export OKL_BACKEND=cuda-emulated && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.sync 2> %t.told && cmp %t.0 %t.sync && FileCheck --check-prefix=DEVICE %s < %t.told
//
// CHECK:      okl: versions of move{{.*}}: 54 calls
// CHECK-NEXT: okl:   [[# VALUES:]] values: made in {{[0-9.]+}} + {{[0-9.]+}} ms, there after {{[0-9.]+}} ms, 4 calls
// CHECK-NEXT: okl:   [[# VALUES]] values: made in {{.*}} ms, 4 calls
// CHECK-NEXT: okl:   [[# VALUES]] values: made in {{.*}} ms, 4 calls
// CHECK:      okl:   [[# VALUES - 2]] values: made in {{.*}} ms
// CHECK:      okl:   values that change often are given up
// CHECK:      okl: versions of flux
// CHECK-NOT:  failed
// DEVICE:      okl: versions of move on a CUDA device, {{.*}}: 54 calls
// DEVICE-NEXT: okl:   {{[0-9]+}} values: made in {{.*}} ms, 4 calls
// DEVICE:      okl:   values that change often are given up
// DEVICE:      okl: versions of flux, atomics on a CUDA device
// WARM:      okl: versions of move
// WARM-NEXT: from the cache in {{[0-9.]+}} ms, there after {{[0-9.]+}} ms, 4 calls
// OTHERS: okl: versions are not kept: {{.*}}.cache can be written by others
// RANKS:      [[# MADE:]] from the cache
// RANKS-NEXT: [[# MADE]] made in
// RANKS-NEXT: {{^}}[[# MADE]]{{$}}
// WRONG: okl: OKL_JIT=yes: valid values are 0, 1, sync and turns
// MISSING: okl: versions of move
// MISSING: warning: failed: {{.*}}libokl_jit.so
#include "op_seq.h"

#include <cmath>
#include <cstdio>
#include <vector>

double scale, table[4];
// No constant by the program's word.
static int steps;

static void move(double const *x, double *y) {
  double a = x[0];
  for (int n = 0; n < steps; n++)
    a = a * scale + table[n & 3] * x[1];
  y[0] = a;
  y[1] = sqrt(fabs(a)) / scale + pow(fabs(x[1]), scale);
}

static void flux(double const *a, double const *b, double *out, double *in) {
  double const f = scale * (a[0] - b[0]) + table[1] * a[1] * b[1];
  out[0] += f, out[0] += table[2];
  in[0] -= f, in[1] += f * f + a[1];
}

// Calls of it stay calls.
__attribute__((noinline)) static void total(double const *y, double *sum, double *least) {
  *sum += y[0] * scale + y[1];
  *least = fmin(*least, y[1]);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const count = 103;
  std::vector<int> edges;
  std::vector<double> start;
  for (int n = 0; n < count; n++) {
    edges.push_back(n), edges.push_back((7 * n + 3) % count);
    start.push_back(1.0 / (n + 1)), start.push_back(0.3 * n - 7);
  }
  op_set nodes = op_decl_set(count, "nodes"), sides = op_decl_set(count, "sides");
  op_map ends = op_decl_map(sides, nodes, 2, edges.data(), "ends");
  op_dat x = op_decl_dat(nodes, 2, "double", start.data(), "x");
  op_dat y = op_decl_dat(nodes, 2, "double", start.data(), "y");
  op_partition("PTSCOTCH", "KWAY", nodes, ends, NULL);
  auto round = [&] {
    op_par_loop(move, "move", nodes, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(y, -1, OP_ID, 2, "double", OP_WRITE));
    op_par_loop(flux, "flux", sides, op_arg_dat(x, 0, ends, 2, "double", OP_READ),
                op_arg_dat(x, 1, ends, 2, "double", OP_READ), op_arg_dat(y, 0, ends, 2, "double", OP_INC),
                op_arg_dat(y, 1, ends, 2, "double", OP_INC));
    double sum = 0, least = 1e30;
    op_par_loop(total, "total", nodes, op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ),
                op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN));
    op_printf("%d %a: %a %a\n", steps, scale, sum, least);
  };
  for (int n = 0; n < 4; n++)
    table[n] = 0.1 * (n + 1);
  steps = 5, scale = 2;
  op_decl_const(1, "double", &scale);
  op_decl_const(4, "double", table);
  for (int times = 0; times < 2; times++)
    for (double value : {2.0, 0.7, 1.1}) {
      scale = value;
      round(), round();
    }
  for (steps = 6; steps < 48; steps++)
    round();
  op_exit();
}
