// Sorts integers: counts them by bucket, moves them into their buckets, sorts each bucket. New keys
// in every iteration.
#include <omp.h>

#include "keys.h"

// `counts` has a row of BUCKETS for each thread, `bucket_start` one more than there are buckets.
static void sort(int n, const int *keys, int *scattered, int *sorted, int (*counts)[BUCKETS],
                 int *bucket_start) {
#pragma omp parallel
  {
    int *mine = counts[omp_get_thread_num()];
    for (int bucket = 0; bucket < BUCKETS; bucket++)
      mine[bucket] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
      mine[keys[i] / WIDTH]++;

    // Counts become places: bucket after bucket, in each one thread after the other.
#pragma omp single
    {
      int next = 0;
      for (int bucket = 0; bucket < BUCKETS; bucket++) {
        bucket_start[bucket] = next;
        for (int thread = 0; thread < omp_get_num_threads(); thread++) {
          int count = counts[thread][bucket];
          counts[thread][bucket] = next;
          next += count;
        }
      }
      bucket_start[BUCKETS] = next;
    }

#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
      scattered[mine[keys[i] / WIDTH]++] = keys[i];
#pragma omp for schedule(static)
    for (int bucket = 0; bucket < BUCKETS; bucket++)
      sort_bucket(bucket, scattered + bucket_start[bucket],
                  bucket_start[bucket + 1] - bucket_start[bucket], sorted + bucket_start[bucket]);
  }
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 4000000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  int *keys = allocate(n, sizeof *keys), *scattered = allocate(n, sizeof *scattered),
      *sorted = allocate(n, sizeof *sorted),
      *bucket_start = allocate(BUCKETS + 1, sizeof *bucket_start);
  int (*counts)[BUCKETS] = allocate(omp_get_max_threads(), sizeof *counts);

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      keys[i] = new_key(iteration, i);
    sort(n, keys, scattered, sorted, counts, bucket_start);
  }
  double seconds = omp_get_wtime() - start;

  double sum = 0;  // of whole numbers: exact in any order
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += (double)sorted[i] * (1 + i % 7);
  print_result(seconds, iterations, sum);
  free(counts);
  free(bucket_start);
  free(sorted);
  free(scattered);
  free(keys);
  return 0;
}
