// A program that uses MPI itself is refused.
// RUN: not clang-22 -O1 -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
int MPI_Init(int *, char ***);
int MPI_Finalize(void);

int main(int argc, char **argv) {
  // CHECK: mpi.c:[[# @LINE + 1]]:3: error: okl: this file calls MPI_Init: a program that uses MPI itself cannot be distributed over MPI ranks
  MPI_Init(&argc, &argv);
  MPI_Finalize();
}
