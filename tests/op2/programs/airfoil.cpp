// Flow around an airfoil on a small mesh: the residuals are those that OP2's own airfoil prints, with and without
// the plugin, at every level of optimisation, on one thread and on several, on one rank and on several.
//
// RUN: clang++-22 -std=c++17 -O1 %S/../../../benchmarks/programs/airfoil/mesh.cpp -o %t.mesh && %t.mesh 40 60 %t.dat
// RUN: head -n 1 %t.dat | FileCheck --check-prefix=MESH --match-full-lines --strict-whitespace %s
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t %t.dat 500 | FileCheck %s
// RUN: clang++-22 -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t %t.dat 500 | FileCheck %s
// RUN: OMP_NUM_THREADS=3 %t %t.dat 500 | FileCheck --check-prefixes=CHECK,THREADS %s
// RUN: for n in 1 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t %t.dat 500 | FileCheck %s || exit 1; done
// RUN: for n in 1 2; do OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n $n %t %t.dat 500 | FileCheck --check-prefixes=CHECK,SOA %s || exit 1; done
// On a device, emulated, on a smaller mesh: each round moves what blocks have made of the residual, in two loops, and no more.
// RUN: %t.mesh 10 12 %t.small
// RUN: %okl-c++ -std=c++11 -O3 --okl-target=cuda,cpu --okl-strict %s -o %t.device
// RUN: for way in cpu cuda-emulated; do OKL_BACKEND=$way %t.device %t.small 60 | sed -n 1p > %t.$way; done && cmp %t.cpu %t.cuda-emulated
// RUN: for rounds in 2 12; do OKL_STATS=1 OKL_BACKEND=cuda-emulated %t.device %t.small $rounds 2>&1 | awk '$1 == "okl_copy" { print $2, $4, $5 }'; done | FileCheck --check-prefix=MOVED %s
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t %t.dat 100 | FileCheck --check-prefix=SHORT %s
//
// MESH: 7381 7200 14260 280 
//
// CHECK:  {{^}}100 4.25406e-04
// CHECK:  {{^}}200 1.79346e-04
// CHECK:  {{^}}300 9.96362e-05
// CHECK:  {{^}}500 3.94607e-05
// THREADS: calls seconds GB/s threads lanes colours plan loop
// THREADS: 1000 {{[0-9.]+ [0-9.]+}} 3 {{[0-9-]+}} - - adt_calc
// THREADS: 1000 {{[0-9.]+ [0-9.]+}} 3 {{[0-9-]+ [2-9] 0\.[0-9]+}} res_calc
// THREADS: 1000 {{[0-9.]+ [0-9.]+}} 1 {{[0-9-]+}} - - bres_calc
// SOA:     calls seconds GB/s threads lanes soa colours plan
// SOA:     500 {{[0-9.]+ [0-9.]+}} 1 {{[0-9-]+}} 2 - {{.*}} save_soln
// SOA:     1000 {{[0-9.]+ [0-9.]+}} 1 {{[0-9-]+}} 6 - {{.*}} res_calc
// MOVED:      [[# COPIES:]] 0.0[[UP:[0-9]+]] 0.000
// MOVED-NEXT: [[# COPIES + 20]] 0.0[[UP]] 0.000
// SHORT:  {{^}}100 4.25406e-04
#include "../../../benchmarks/programs/airfoil/airfoil.cpp"
