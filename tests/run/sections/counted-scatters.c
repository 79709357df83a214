// Threads sort by buckets: counters of their own say where each element goes. Counters on the stack and threadprivate ones,
// that grow and that shrink, ints and longs; several arrays sorted at once; elements that are left out; few elements, and
// none; counters that lie in the array that is written; and loops that change counters otherwise.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 30000, BUCKETS = 64, MOST = 64 };

static int key[N];
static int *sorted;
static double *moved;
static long *wide;
static int next_of[BUCKETS];
#pragma omp threadprivate(next_of)

static int counts[MOST][BUCKETS];

static long sum(const void *of, size_t size) {
  const unsigned char *at = of;
  long sum = 0;
  for (size_t i = 0; i < size; i++) sum = (sum * 31 + at[i]) % 1000000007;
  return sum;
}

static int bucket(int value) { return value % BUCKETS; }

// How many elements of each bucket the threads have.
static void count(int *own, int first, int end) {
  for (int b = 0; b < BUCKETS; b++) own[b] = 0;
  for (int i = first; i < end; i++) own[bucket(key[i])]++;
}

// Where a thread's elements of a bucket begin; all threads have counted.
static int begin(int b, int thread, int threads) {
  int at = 0;
  for (int other = 0; other < b; other++)
    for (int t = 0; t < threads; t++) at += counts[t][other];
  for (int t = 0; t < thread; t++) at += counts[t][b];
  return at;
}

static void share(int *first, int *end) {
  long thread = omp_get_thread_num(), threads = omp_get_num_threads();
  *first = (int)(N * thread / threads);
  *end = (int)(N * (thread + 1) / threads);
}

static void threadprivate_counters(int step) {
#pragma omp parallel
  {
    int first, end, thread = omp_get_thread_num();
    share(&first, &end);
    count(counts[thread], first, end);
#pragma omp barrier
    for (int b = 0; b < BUCKETS; b++) next_of[b] = begin(b, thread, omp_get_num_threads());
    for (int i = first; i < end; i++) {
      int k = key[i];
      sorted[next_of[k % BUCKETS]++] = k + step;
    }
  }
}

// They shrink, and two arrays go by one counter.
static void counters_on_the_stack(int step) {
#pragma omp parallel
  {
    int first, end, thread = omp_get_thread_num();
    share(&first, &end);
    count(counts[thread], first, end);
#pragma omp barrier
    int last[BUCKETS];
    for (int b = 0; b < BUCKETS; b++)
      last[b] = begin(b, thread, omp_get_num_threads()) + counts[thread][b];
    for (int i = end - 1; i >= first; i--) {
      int at = --last[key[i] % BUCKETS];
      sorted[at] = key[i];
      moved[at] = i + step;
    }
  }
}

// Numbers of 64 bits, elements that stay where they are, and what others wrote between those that a thread writes.
static void some(int step) {
#pragma omp parallel
  {
    int first, end;
    share(&first, &end);
    size_t next[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) next[b] = (size_t)(first + (end - first) / BUCKETS * b);
    size_t least = (end - first) / BUCKETS;
    for (int i = first; i < end; i++) {
      int b = (key[i] + step) % BUCKETS;
      if (next[b] - (first + (end - first) / BUCKETS * b) < least / 2 && i % 3)
        wide[next[b]++] = i * 7L + step;
    }
  }
}

// Counters that begin anew in each turn, and few elements or none.
static void few(int step) {
#pragma omp parallel for schedule(static)
  for (int part = 0; part < 100; part++) {
    int next[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) next[b] = part * 300 + b * 4;
    for (int i = 0; i < (part + step) % 5; i++) sorted[next[(i * 7 + step) % BUCKETS]++] = i + part;
  }
}

// In the midst of the loop a counter changes otherwise: nothing is known of what lies between.
static void skips(int step) {
#pragma omp parallel
  {
    int first, end, thread = omp_get_thread_num();
    share(&first, &end);
    int next[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) next[b] = first + (end - first) / BUCKETS * b;
    for (int i = first; i < end; i += 4) {
      int b = (i / 4) % BUCKETS;
      if (next[b] >= first + (end - first) / BUCKETS * (b + 1)) continue;
      sorted[next[b]++] = i + step + thread * 0;
      if (i % 16 == 0) next[b]++;
    }
  }
}

// The counters are in the array that is written: the first elements are other counters.
static void counters_among_elements(int step) {
#pragma omp parallel
  {
    int *to = step % 2 ? next_of : next_of + 1;
    for (int b = 0; b < BUCKETS; b++) next_of[b] = 32;
    for (int i = 0; i < 1000; i++) {
      int b = i % 16;
      if (next_of[b] < 60 && next_of[b] >= 32) to[next_of[b]++] = i + step;
    }
    long mine = 0;
    for (int b = 0; b < BUCKETS; b++) mine = mine * 3 % 1000003 + next_of[b];
#pragma omp critical
    wide[0] += mine;
  }
}

// Whoever reads it next gets all of it, from whoever wrote it.
static long read_by_others(int step) {
  long all = 0;
#pragma omp parallel for schedule(static, 97) reduction(+ : all)
  for (int i = 0; i < N; i++)
    all += (sorted[i] % 1009) * (i % 13 + 1) + (long)moved[i] % 7 + wide[i] % 11 + step % 3;
  return all;
}

int main(void) {
  sorted = calloc(N + BUCKETS, sizeof *sorted);
  moved = calloc(N, sizeof *moved);
  wide = calloc(N, sizeof *wide);
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) key[i] = (int)((i * 7919L + step * 104729L) % 9973);
    threadprivate_counters(step);
    printf("threadprivate %ld %ld\n", sum(sorted, N * sizeof *sorted), read_by_others(step));
    counters_on_the_stack(step);
    printf("stack %ld %ld\n", sum(sorted, N * sizeof *sorted), read_by_others(step));
    memset(wide, 0, N * sizeof *wide);
    few(step);
    printf("few %ld %ld\n", sum(sorted, N * sizeof *sorted), read_by_others(step));
  }
  // What depends on the number of threads is the same for each of them.
  long right = 0;
  for (int step = 0; step < 4; step++) {
    memset(wide, 255, N * sizeof *wide);
    some(step);
    long seen = 0, written = 0;
#pragma omp parallel for reduction(+ : seen)
    for (int i = 0; i < N; i++) seen += wide[i] != -1 ? wide[i] : 0;
    for (int i = 0; i < N; i++) written += wide[i] != -1 ? wide[i] : 0;
    right += seen == written && written > 0;
    memset(sorted, 255, N * sizeof *sorted);
    skips(step);
    seen = written = 0;
#pragma omp parallel for reduction(+ : seen)
    for (int i = 0; i < N; i++) seen += sorted[i] + 1;
    for (int i = 0; i < N; i++) written += sorted[i] + 1;
    right += seen == written && written > 0;
    wide[0] = 0;
    counters_among_elements(step);
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    printf("among %ld\n", wide[0] / threads);
  }
  printf("right %ld\n", right);
  return 0;
}
