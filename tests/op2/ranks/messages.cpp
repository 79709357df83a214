// What airfoil's ranks send: as little as owners of cells can do with. res_calc reads two values that loops before it
// have written, a cell's state (32 bytes; not in the first of all calls: nobody has written it yet) and its time step
// (8 bytes), and nothing else is sent. Two neighbours exchange one message each in a call, which has the cells on the
// other side of the border and no others: in two halves of this mesh there are 100 edges between them, and 100 cells on
// each side. That is 20 * 2 messages and 200 * (20 * 8 + 19 * 32) bytes.
//
// RUN: clang++-22 -std=c++17 -O1 %S/../../../benchmarks/programs/airfoil/mesh.cpp -o %t.mesh && %t.mesh 40 60 %t.dat
// RUN: clang++-22 -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.dat 10 | FileCheck --check-prefixes=CHECK,TWO %s
// RUN: OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.dat 10 | FileCheck --check-prefixes=CHECK,TWO %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t %t.dat 10 | FileCheck --check-prefixes=CHECK,THREE %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 4 %t %t.dat 10 | FileCheck --check-prefixes=CHECK,FOUR %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 1 %t %t.dat 10 | FileCheck --check-prefix=ONE %s
//
// CHECK: calls seconds GB/s threads lanes {{(soa )?}}colours plan mean waiting messages bytes loop
// CHECK-NEXT: 10 {{.*}} 0 0 save_soln
// CHECK-NEXT: 20 {{.*}} 0 0 adt_calc
// TWO-NEXT: 20 {{.*}} 40 153600 res_calc
// THREE-NEXT: 20 {{.*}} 80 {{[0-9]+}} res_calc
// FOUR-NEXT: 20 {{.*}} 160 {{[0-9]+}} res_calc
// CHECK-NEXT: 20 {{.*}} 0 0 bres_calc
// CHECK-NEXT: 20 {{.*}} 0 0 update
// ONE: calls seconds GB/s threads lanes colours plan loop
#include "../../../benchmarks/programs/airfoil/airfoil.cpp"
