// How many nodes the ranks are on is asked of MPI: launchers need not say it.
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: %launch -n 3 env -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_LOCAL_SIZE -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_LOCAL_RANK -u OMPI_COMM_WORLD_NODE_RANK -u OMPI_UNIVERSE_SIZE %t | FileCheck %s
// RUN: %launch -n 3 env -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_LOCAL_SIZE -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_LOCAL_RANK -u OMPI_COMM_WORLD_NODE_RANK -u OMPI_UNIVERSE_SIZE OKL_RANKS_PER_NODE=2 timeout 60 %t | FileCheck %s
// RUN: %launch -n 3 env OKL_RANKS_PER_NODE=2 %t | FileCheck %s
// CHECK: 3 threads, 499500, 3000
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int threads = 0;
  long sum = 0, *values = malloc(1000 * sizeof *values), next = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < 1000; i++) values[i] = i;
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += values[999 - i];
    for (int i = 0; i < 1000; i++)
#pragma omp atomic
      next++;
  }
  printf("%d threads, %ld, %ld\n", threads, sum, next);
  free(values);
  return 0;
}
