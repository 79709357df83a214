// OKL_STATS charges what moves to regions, serial code and source lines, by cause; an access to a volatile
// object keeps a region from declaring what it does. All regions and serial
// code together are what the ranks did, wherever they are.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.near 2>&1
// RUN: FileCheck --check-prefixes=CHECK,NEAR %s < %t.near
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.far 2>&1
// RUN: FileCheck %s < %t.far
// RUN: cat %t.near | awk '/^okl: par/ {t = 1; next} /^okl: so/ {t = 0} t && $NF != "at" {f += $4; s += $5; p += $7; d += $9; m += $13} !t && NF == 4 && /faults/ {f -= $3 + $4} / section copies/ {s -= $3 + $4} / pages fetched/ {p -= $3 + $4} /^ *diffs/ {d -= $2 + $3} /^ *messages/ {m -= $2 + $3} END {print "left over:", f, s, p, d, m}' | FileCheck --check-prefix=SUMS %s
// RUN: cat %t.far | awk '/^okl: par/ {t = 1; next} /^okl: so/ {t = 0} t && $NF != "at" {f += $4; s += $5; p += $7; d += $9; m += $13} !t && NF == 4 && /faults/ {f -= $3 + $4} / section copies/ {s -= $3 + $4} / pages fetched/ {p -= $3 + $4} /^ *diffs/ {d -= $2 + $3} /^ *messages/ {m -= $2 + $3} END {print "left over:", f, s, p, d, m}' | FileCheck --check-prefix=SUMS %s
// What is asked of rank 0 is asked of all.
// RUN: mpirun --allow-run-as-root --oversubscribe -n 1 env OKL_STATS=1 OKL_TRACE=sync %t : -n 1 %t 2>&1 | grep -e 'rank 1: end of the region' -e 'okl: stat' | LC_ALL=C sort -u | FileCheck --check-prefix=FIRST %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 1 %t : -n 1 env OKL_STATS=1 OKL_TRACE=sync %t 2>&1 | count 0
//
// FIRST: okl: rank 1: end of the region
// FIRST: okl: statistics
// SUMS: left over: 0 0 0 0 0
//
// CHECK: okl: parallel regions, sums over all ranks
// CHECK-NEXT:  runs ms in okl ms waiting faults sections KiB pages KiB diffs KiB control KiB messages KiB at
// Rank 0 reads in serial code what rank 1 wrote.
// CHECK-NEXT:  {{ 4 +[0-9.]+ +[0-9.]+}} {{[1-9][0-9]*}} 0 0.0 {{[1-9][0-9]*}} {{[1-9][0-9.]+}} 0 0.0 {{[0-9]+ +[0-9.]+ +[0-9]+ +[0-9.]+}} serial code
// CHECK-NEXT:  {{ 1 +[0-9.]+ +[0-9.]+}} 0 0 0.0 0 0.0 0 0.0 {{[1-9][0-9]* +[0-9.]+ +[1-9][0-9]* +[0-9.]+}} {{.*}}costs.c:[[#@LINE+15]]
// A number from each rank, once: the second sweep reads what did not change.
// CHECK-NEXT:  {{ 2 +[0-9.]+ +[0-9.]+}} 0 2 0.0 0 0.0 0 0.0 {{[1-9][0-9]* +[0-9.]+ +[1-9][0-9]* +[0-9.]+}} {{.*}}costs.c:[[#@LINE+16]]
// CHECK-NEXT:  {{ 1 +[0-9.]+ +[0-9.]+}} {{[1-9][0-9]*}} 0 0.0 {{[1-9][0-9]*}} {{[1-9][0-9.]+}} {{[1-9][0-9]*}} {{[1-9][0-9.]+ +[1-9][0-9]* +[0-9.]+ +[1-9][0-9]* +[0-9.]+}} {{.*}}costs.c:[[#@LINE+18]]
// CHECK-NEXT: okl: source lines, sums over all ranks
// Page faults, changed bytes sent home at a barrier, and a copy for the loop that reads it.
// CHECK-DAG:   {{ [1-9][0-9]* +[0-9.]+ +0\.0}} {{[1-9][0-9]*}} 0 0.0 {{[1-9][0-9]*}} {{[1-9][0-9.]+}} 0 0.0 {{[0-9]+ +[0-9.]+ +[0-9]+ +[0-9.]+}} costs.c:[[#@LINE+19]]
// CHECK-DAG:   {{ 2 +[0-9.]+ +[0-9.]+}} 0 0 0.0 0 0.0 {{[1-9][0-9]*}} {{[0-9.]+ +[1-9][0-9]* +[0-9.]+}} {{[0-9]+ +[0-9.]+}} costs.c:[[#@LINE+19]]
// NEAR-DAG:    {{ 4 +[0-9.]+ +0\.0}} 0 2 0.0 0 0.0 0 0.0 0 0.0 0 0.0 costs.c:[[#@LINE+11]]
enum { N = 2048 };
double a[N], b[N], field[N];
int place[N];

int main(void) {
  for (int i = 0; i < N; i++) place[i] = (i * 5) % N;
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = i;
  for (int sweep = 0; sweep < 2; sweep++) {
#pragma omp parallel for
    for (int i = 1; i < N - 1; i++) b[i] = a[i - 1] + a[i + 1];
  }
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < N; i++)
      field[place[i]] = b[i] + 0 * *(volatile int *)&place[i];
#pragma omp barrier
  }
  double sum = 0;
  for (int i = 0; i < N; i++) sum += b[i];
  return sum < 0;
}
