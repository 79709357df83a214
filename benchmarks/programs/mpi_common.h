// What the hand-written MPI programs share: who owns which rows, and sums whose
// order does not depend on the number of ranks.
#ifndef MPI_COMMON_H
#define MPI_COMMON_H

// C's interface is enough for C++, too.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "common.h"

struct share {
  int first, count;
};

// The part of 0 ... n-1 that `rank` owns: contiguous, the first n % ranks parts one longer.
static inline struct share share_of(int n, int rank, int ranks) {
  int each = n / ranks, more = n % ranks;
  return (struct share){rank * each + (rank < more ? rank : more), each + (rank < more)};
}

static inline int my_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static inline int all_ranks(void) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

// Starts the clock on all ranks together.
static inline double start_clock(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

// Seconds since `start` on the slowest rank; on rank 0.
static inline double stop_clock(double start) {
  double mine = MPI_Wtime() - start, slowest = mine;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

// Adds all ranks' values, rank after rank, each in its order; on rank 0.
static inline double sum_in_order(const double *mine, int count) {
  int ranks = all_ranks(), total = 0;
  int *counts = (int *)allocate(ranks, sizeof *counts), *starts = (int *)allocate(ranks, sizeof *starts);
  MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; rank++) {
    starts[rank] = total;
    total += counts[rank];
  }
  double *all = (double *)allocate(total, sizeof *all), sum = 0;
  MPI_Gatherv(mine, count, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (my_rank() == 0)
    for (int i = 0; i < total; i++)
      sum += all[i];
  free(all);
  free(starts);
  free(counts);
  return sum;
}

#endif
