// Threads sort by buckets whose counters lie in rows of a table that they share, behind pointers, or anywhere: many more than
// a nest takes note of, none at all, uneven ones; ints and longs that grow and shrink; counters that change between the loops
// and in them, that are elements of what is written, and that lie side by side with other threads'. Whoever reads next is
// another thread: a mark too many brings old values back, a mark too few loses new ones.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60000, BUCKETS = 64, MANY = 3000, MOST = 64 };

static int key[N];
static int *sorted;
static double *moved;
static long *wide;
static int (*table)[BUCKETS];
static int *rows[MOST];
static long *wide_rows[MOST];

static long sum(const void *of, size_t size) {
  const unsigned char *at = of;
  long sum = 0;
  for (size_t i = 0; i < size; i++) sum = (sum * 31 + at[i]) % 1000000007;
  return sum;
}

static void share(int all, int *first, int *end) {
  long thread = omp_get_thread_num(), threads = omp_get_num_threads();
  *first = (int)(all * thread / threads);
  *end = (int)(all * (thread + 1) / threads);
}

// A row of a table; in every second step no thread but the last one has a key of most buckets.
static void rows_of_a_table(int step) {
#pragma omp parallel
  {
    int *mine = table[omp_get_thread_num()];
    for (int b = 0; b < BUCKETS; b++) mine[b] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++) mine[key[i] % BUCKETS]++;
#pragma omp single
    {
      int next = 0;
      for (int b = 0; b < BUCKETS; b++)
        for (int t = 0; t < omp_get_num_threads(); t++) {
          int count = table[t][b];
          table[t][b] = next;
          next += count;
        }
    }
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++) sorted[mine[key[i] % BUCKETS]++] = key[i] + step;
  }
}

// Many counters behind a pointer of the thread's, most of which share a place; they shrink.
static void many(int step) {
#pragma omp parallel
  {
    int first, end, thread = omp_get_thread_num();
    share(N, &first, &end);
    int *mine = rows[thread];
    for (int b = 0; b < MANY; b++) mine[b] = 0;
    for (int i = first; i < end; i++) mine[key[i] % MANY]++;
    for (int b = 0, next = first; b < MANY; b++) next = mine[b] += next;
    for (int i = end - 1; i >= first; i--) moved[--mine[key[i] % MANY]] = key[i] * 0.5 + step;
  }
}

// Longs, an element behind the counter's, elements that stay, and others in between that other threads have written.
static void some(int step) {
#pragma omp parallel
  {
    int first, end;
    share(N - 1, &first, &end);
    long *mine = wide_rows[omp_get_thread_num()], each = (end - first) / BUCKETS;
    for (int b = 0; b < BUCKETS; b++) mine[b] = first + each * b;
    for (int i = first; i < end; i++) {
      int b = (key[i] + step) % BUCKETS;
      if (mine[b] < first + each * b + each / 2 && i % 3) wide[1 + mine[b]++] = i * 7L + step;
    }
    // They go on where they are, and from elsewhere.
    for (int b = 0; b < BUCKETS; b += 2) mine[b] = first + each * b + each - 1;
    for (int i = first; i < end; i++) {
      int b = (key[i] * 3 + step) % BUCKETS;
      if (mine[b] < first + each * b + each) wide[mine[b]++] = i + step;
    }
  }
}

// What a thread does with a row it does in the midst of others' counters: theirs lie between its own.
static void side_by_side(int step) {
#pragma omp parallel
  {
    int first, end, threads = omp_get_num_threads(), thread = omp_get_thread_num();
    share(N, &first, &end);
    int *mine = rows[0] + thread, most = MANY / threads;
    int count = most < BUCKETS ? most : BUCKETS;
#pragma omp barrier
    for (int b = 0; b < count; b++) mine[b * threads] = first + (end - first) / count * b;
#pragma omp barrier
    for (int i = first; i < end; i++) {
      int b = key[i] % count;
      if (mine[b * threads] < first + (end - first) / count * (b + 1) - step)
        sorted[mine[b * threads]++] = i - step;
    }
  }
}

// Counters are elements: a store may change one that has counted, or will.
static void among_elements(int step) {
#pragma omp parallel
  {
    int first, end;
    share(N / 1000, &first, &end);
    for (int part = first; part < end; part++) {
      int *to = sorted + part * 1000, *counters = to + 500;
      for (int b = 0; b < 16; b++) counters[b] = 480 + b * 2;
      for (int i = 0; i < 5000; i++) {
        int b = (i * 7 + step) % 16;
        if (counters[b] >= 0 && counters[b] < 900) to[counters[b]++] = 400 + (i + step) % 300;
      }
    }
  }
}

// In the midst of the loop counters change otherwise.
static void skips(int step) {
#pragma omp parallel
  {
    int first, end, thread = omp_get_thread_num();
    share(N, &first, &end);
    int *mine = rows[thread], each = (end - first) / BUCKETS;
    for (int b = 0; b < BUCKETS; b++) mine[b] = first + each * b;
    for (int i = first; i < end; i += 2) {
      int b = i / 2 % BUCKETS;
      if (mine[b] >= first + each * (b + 1)) continue;
      sorted[mine[b]++] = i + step;
      if (i % 16 == 0) mine[b]++;
    }
  }
}

// Whoever reads it next gets all of it, from whoever wrote it.
static long read_by_others(int step) {
  long all = 0;
#pragma omp parallel for schedule(static, 97) reduction(+ : all)
  for (int i = 0; i < N; i++)
    all += (sorted[i] % 1009) * (i % 13 + 1) + (long)moved[i] % 7 * (i % 5) + wide[i] % 11 + step % 3;
  return all;
}

// What depends on the number of threads is the same for each of them.
static int are_right(int step) {
  long seen = 0, written = 0;
#pragma omp parallel for schedule(static, 89) reduction(+ : seen)
  for (int i = 0; i < N; i++) seen += (sorted[i] + 1L) * (i % 31) + (wide[i] + 1) * (i % 17) + (long)moved[i] % 7;
  for (int i = 0; i < N; i++) written += (sorted[i] + 1L) * (i % 31) + (wide[i] + 1) * (i % 17) + (long)moved[i] % 7;
  return seen == written && written != step;
}

int main(void) {
  sorted = calloc(N, sizeof *sorted);
  moved = calloc(N, sizeof *moved);
  wide = calloc(N, sizeof *wide);
  table = calloc(MOST, sizeof *table);
  for (int t = 0; t < MOST; t++) {
    rows[t] = calloc(MANY, sizeof *rows[t]);
    wide_rows[t] = calloc(BUCKETS, sizeof *wide_rows[t]);
  }
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
      key[i] = (int)((i * 7919L + step * 104729L) % 9973);
      if (step % 2 && i < N - N / 5) key[i] = key[i] % 3 * BUCKETS * MANY % 9973 / BUCKETS * BUCKETS;
    }
    rows_of_a_table(step);
    printf("rows %ld %ld\n", sum(sorted, N * sizeof *sorted), read_by_others(step));
    among_elements(step);
    printf("among %ld %ld\n", sum(sorted, N * sizeof *sorted), read_by_others(step));
  }
  long right = 0;
  for (int step = 0; step < 4; step++) {
    many(step);
    right += are_right(step);
    memset(wide, 255, N * sizeof *wide);
    some(step);
    right += are_right(step);
    memset(sorted, 255, N * sizeof *sorted);
    side_by_side(step);
    right += are_right(step);
    skips(step);
    right += are_right(step);
    long counters = 0;
    for (int b = 0; b < BUCKETS; b++) counters += rows[0][b] - sorted[0];
    right += counters != step;
  }
  printf("right %ld\n", right);
  return 0;
}
