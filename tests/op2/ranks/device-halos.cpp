// What moves where airfoil's ranks have devices: between ranks what moves without (messages.cpp has the numbers), and between
// a rank and its device its part of that and what blocks have made of the residual, and no more. Of these two halves each has
// 16 cells of the other one. In an iteration there are two exchanges, each a copy from the device and one to it, of 40 bytes
// for each of those cells, and two calls of `update` of which the residual is copied from the device.
//
// RUN: clang++-22 -std=c++17 -O1 %S/../../../benchmarks/programs/airfoil/mesh.cpp -o %t.mesh && %t.mesh 6 10 %t.dat
// RUN: %okl-c++ -std=c++11 -O3 --okl-target=cuda,cpu --okl-strict %s -o %t
// RUN: OKL_BACKEND=cpu %t %t.dat 60 | sed -n 1p > %t.expected
// RUN: for n in 2 3 4; do OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $n %t %t.dat 60 2>&1 | sed -n 1p | cmp %t.expected - || exit 1; done
// RUN: OKL_BACKEND=mpi mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.dat 60 | awk '/calc|update|soln/ { print $(NF - 2), $(NF - 1), $NF }' > %t.messages
// RUN: OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.dat 60 2>&1 | awk '/calc|update|soln/ { print $(NF - 2), $(NF - 1), $NF }' | cmp %t.messages -
// RUN: for rounds in 10 60; do OKL_STATS=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t %t.dat $rounds 2>&1 | awk '/okl_copy/ { print $2, $4, $5 }' | tail -n 1; done | awk 'NR == 1 { copies = $1; up = $2; down = $3; next } { print "copies", $1 - copies, "up", $2 - up, "down", $3 - down }' | FileCheck %s
//
// CHECK: copies 300 up 0.064 down 0.065
#include "../../../benchmarks/programs/airfoil/airfoil.cpp"
