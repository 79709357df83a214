// A function whose assembly defines a name cannot stand in a program twice, once for one rank and once for several.
// RUN: not %okl-cc -O1 -g -fopenmp -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: {{.*}}assembly.c:5:1: error: okl: loop cannot be compiled both for one rank and for several: its inline assembly defines a name, or other functions use its labels
// CHECK-NOT: error: okl
void loop(int *a, int n) {
  __asm__ volatile("a_name_of_assembly: nop");
#pragma omp for
  for (int i = 0; i < n; i++) a[i]++;
}
// A function that shares no work stands there once.
void begins(int *a, int n) {
  __asm__ volatile("another_name: nop");
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i]++;
}
