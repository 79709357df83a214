// Sorts integers: each rank counts its keys by bucket and orders them so, sends each rank the keys
// of its buckets, and sorts the buckets that are its own. New keys in every iteration.
#include <string.h>

#include "../mpi_common.h"
#include "keys.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 4000000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks), buckets = share_of(BUCKETS, rank, ranks);
  int count = mine.count;
  int *keys = allocate(count, sizeof *keys), *scattered = allocate(count, sizeof *scattered);
  // What arrives depends on the keys; these grow as needed.
  int room = 0, *arrived = NULL, *grouped = NULL, *sorted = NULL;
  int *out_count = allocate(ranks, sizeof(int)), *out_start = allocate(ranks, sizeof(int)),
      *in_count = allocate(ranks, sizeof(int)), *in_start = allocate(ranks, sizeof(int));
  int (*counts)[BUCKETS] = allocate(ranks, sizeof *counts);  // of all ranks
  int total = 0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    for (int i = 0; i < count; i++)
      keys[i] = new_key(iteration, mine.first + i);

    int own[BUCKETS] = {0}, place[BUCKETS];
    for (int i = 0; i < count; i++)
      own[keys[i] / WIDTH]++;
    MPI_Allgather(own, BUCKETS, MPI_INT, counts, BUCKETS, MPI_INT, MPI_COMM_WORLD);
    for (int bucket = 0, next = 0; bucket < BUCKETS; bucket++) {
      place[bucket] = next;
      next += own[bucket];
    }
    for (int other = 0; other < ranks; other++) {
      struct share theirs = share_of(BUCKETS, other, ranks);
      out_start[other] = theirs.count ? place[theirs.first] : 0;
      out_count[other] = 0;
      for (int b = 0; b < theirs.count; b++)
        out_count[other] += own[theirs.first + b];
    }
    for (int i = 0; i < count; i++)
      scattered[place[keys[i] / WIDTH]++] = keys[i];

    total = 0;
    for (int other = 0; other < ranks; other++) {
      in_start[other] = total;
      in_count[other] = 0;
      for (int b = 0; b < buckets.count; b++)
        in_count[other] += counts[other][buckets.first + b];
      total += in_count[other];
    }
    if (total > room) {
      room = total + total / 8;
      free(sorted);
      free(grouped);
      free(arrived);
      arrived = allocate(room, sizeof *arrived);
      grouped = allocate(room, sizeof *grouped);
      sorted = allocate(room, sizeof *sorted);
    }
    MPI_Alltoallv(scattered, out_count, out_start, MPI_INT, arrived, in_count, in_start, MPI_INT,
                  MPI_COMM_WORLD);

    // Each rank's keys arrived in the order of the buckets.
    for (int b = 0, next = 0; b < buckets.count; b++) {
      int first = next;
      for (int other = 0; other < ranks; other++) {
        int part = counts[other][buckets.first + b];
        memcpy(grouped + next, arrived + in_start[other], part * sizeof *grouped);
        in_start[other] += part;
        next += part;
      }
      sort_bucket(buckets.first + b, grouped + first, next - first, sorted + first);
    }
  }
  double seconds = stop_clock(start);

  int first = 0;
  for (int other = 0; other < ranks; other++)
    for (int bucket = 0; bucket < buckets.first; bucket++)
      first += counts[other][bucket];
  double part = 0, sum = 0;  // of whole numbers: exact in any order
  for (int i = 0; i < total; i++)
    part += (double)sorted[i] * (1 + (first + i) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(counts);
  free(in_start);
  free(in_count);
  free(out_start);
  free(out_count);
  free(sorted);
  free(grouped);
  free(arrived);
  free(scattered);
  free(keys);
  MPI_Finalize();
  return 0;
}
