__attribute__((noinline)) inline void count(int *counts, int i) {
#pragma omp critical(counts)
  counts[i % 8]++;
}

__attribute__((noinline)) inline void increase(int *counts, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    counts[i]++;
}
