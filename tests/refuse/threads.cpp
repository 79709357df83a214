// std::thread is refused as well.
// RUN: not clang++-22 -O1 -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: error: okl: this file calls std::thread::_M_start_thread({{.*}}): threads and processes that a program starts itself cannot be distributed over MPI ranks
#include <thread>
void work();
void f() { std::thread(work).join(); }
