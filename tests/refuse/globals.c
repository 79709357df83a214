// Variables that cannot be shared.
// RUN: not clang-22 -O1 -g -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: not clang-22 -O1 -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck --check-prefix=NODEBUG %s

// CHECK: error: {{.*}}globals.c:[[# @LINE + 2]]: okl: variable placed is placed in section mine, so the ranks cannot share it
// NODEBUG: error: okl: variable placed is placed in section mine, so the ranks cannot share it
int placed __attribute__((section("mine"))) = 3;

// Read-only ones need not be shared.
const int constant __attribute__((section("mine_too"))) = 3;
