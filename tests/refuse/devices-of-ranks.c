// What the devices of ranks do not run of regions stays with the ranks' threads, and a warning says why; with `-okl-strict` that
// is an error. What only devices of one process do is among it.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi+cuda,cpu -c %s -o %t.o 2>&1 | grep warning: | FileCheck --match-full-lines --implicit-check-not=warning: %s
// RUN: not clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi+cuda,cpu -mllvm -okl-strict -c %s -o %t.o 2>&1 | FileCheck --check-prefix=STRICT %s
// STRICT: error: this cannot run on a device, so threads run it
double a[1000], sum;
long counts[16];
int n = 1000;
// CHECK-DAG: {{.*}}:[[# @LINE + 5]]:{{.*}}: warning: this cannot run on a device, so threads run it: it updates memory atomically, which ranks do together
void counted(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
#pragma omp atomic
    counts[i % 16]++;
}
// Devices run loops with what stands between them, which is serial code then, but not what finds that out.
void several(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
  }
}
// CHECK-DAG: {{.*}}:[[# @LINE + 6]]:{{.*}}: warning: this cannot run on a device, so threads run it: it may find out, or change, in which region it is
int omp_get_level(void);
void levels(void) {
#pragma omp parallel
  {
#pragma omp single
    sum = omp_get_level();
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += sum;
  }
}
// CHECK-DAG: {{.*}}:[[# @LINE + 4]]:{{.*}}: warning: this cannot run on a device, so threads run it: its threads come to the loop several times
void in_turns(int turns) {
#pragma omp parallel
  for (int turn = 0; turn < turns; turn++) {
#pragma omp for nowait
    for (int i = 0; i < n; i++) a[i] += turn;
  }
}
