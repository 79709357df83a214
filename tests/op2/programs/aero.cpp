// Flow around an airfoil by finite elements, Newton's method and conjugate gradients: what the program computes is what it does
// without the plugin, bit by bit where elements run one after the other, and also with versions that are made while it runs, in
// turns with the code as it was, and as lazy loops; and with sums in another order nearly the same, on threads, ranks and a device.
//
// RUN: clang++-22 -std=c++17 -O1 %S/../../../benchmarks/programs/airfoil/mesh.cpp -o %t.mesh && %t.mesh 20 30 %t.dat && %t.mesh 10 15 %t.small
// RUN: clang++-22 -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain %t.dat 8 | sed -n 1,2p > %t.expected && FileCheck %s < %t.expected && %t.plain %t.small 5 | FileCheck --check-prefix=SMALL %s
// RUN: %okl-c++ -std=c++11 -O3 --okl-strict --okl-jit --okl-target=cuda,cpu %s -o %t
// RUN: export OKL_BACKEND=cpu OMP_NUM_THREADS=1 && for way in "OKL_JIT=0" "OKL_JIT=1" "OKL_JIT=sync" "OKL_JIT=turns" "OKL_JIT=sync OKL_LAZY=1"; do env $way OKL_STATS=1 %t %t.dat 8 2> %t.told | sed -n 1,2p | cmp %t.expected - || exit 1; done && FileCheck --check-prefix=LAZY %s < %t.told
// RUN: export OKL_BACKEND=cpu OMP_NUM_THREADS=2 && for way in 0 sync; do OKL_REPRODUCIBLE=1 OKL_JIT=$way OKL_STATS=1 %t %t.dat 8 2> %t.told | sed -n 1,2p > %t.$way && FileCheck %s < %t.$way && cmp %t.0 %t.$way || exit 1; done && FileCheck --check-prefix=VERSIONS %s < %t.told && OKL_JIT=turns %t %t.dat 8 | FileCheck --check-prefixes=CHECK,THREADS %s
// RUN: OKL_BACKEND=mpi OMP_NUM_THREADS=1 OKL_JIT=sync mpirun --allow-run-as-root --oversubscribe -n 3 %t %t.dat 8 | FileCheck %s
// RUN: export OKL_BACKEND=cuda-emulated OKL_REPRODUCIBLE=1 && for way in 0 sync; do OKL_JIT=$way OKL_STATS=1 %t %t.small 5 2> %t.told | sed -n 1,2p > %t.$way && cmp %t.0 %t.$way || exit 1; done && FileCheck --check-prefix=SMALL %s < %t.0 && FileCheck --check-prefix=DEVICE %s < %t.told
//
// CHECK:      {{^}}8 1.86998011{{[0-9]+}}e-06
// CHECK-NEXT: the highest Mach number is 0.4772921170
// SMALL:      {{^}}5 7.2059217{{[0-9]+}}e-07
// SMALL-NEXT: the highest Mach number is 0.4644984498
// LAZY:       okl: versions of updateUR+dotR: 155 calls
// LAZY-NEXT:  values: made in
// VERSIONS:   okl: versions of res_calc({{.*}}): 8 calls
// VERSIONS-NEXT: 12 values: made in
// VERSIONS:   okl: versions of spMV({{.*}}): 155 calls
// VERSIONS-NEXT: 4 values: made in
// THREADS:    calls seconds GB/s threads lanes colours plan loop
// THREADS:    8 {{[0-9.]+ [0-9.]+}} 2 {{[0-9-]+ [2-9] 0\.[0-9]+}} res_calc
// THREADS:    155 {{[0-9.]+ [0-9.]+}} 2 {{[0-9-]+ [2-9]}} - spMV
// DEVICE:     okl: versions of res_calc, blocks on a CUDA device, {{.*}}: 10 calls
// DEVICE-NEXT: values: made in
// DEVICE:     okl: versions of spMV, blocks on a CUDA device, {{.*}}: 118 calls
// DEVICE-NEXT: values: made in
#include "../../../benchmarks/programs/aero/aero.cpp"
