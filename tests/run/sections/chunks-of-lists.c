// Chunks of which nothing can be described, handed out on demand: buckets are sorted by counters of each thread, and then
// read between bounds that each thread has counted itself, time and again, with other bounds now and then.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 60000, BUCKETS = 64, WIDTH = 16 };

static int keys[KEYS], sorted[KEYS], ranks[BUCKETS * WIDTH];
static int **counts;
static int bounds[BUCKETS];
#pragma omp threadprivate(bounds)

struct node {
  struct node *next;
  long value;
};
static struct node *lists[BUCKETS];

static void sort(int width) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads(), *own = counts[me];
    for (int b = 0; b < BUCKETS; b++) own[b] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++) own[keys[i] / WIDTH]++;
    bounds[0] = 0;
    for (int k = 0; k < me; k++) bounds[0] += counts[k][0];
    for (int b = 1; b < BUCKETS; b++) {
      bounds[b] = bounds[b - 1];
      for (int k = 0; k < me; k++) bounds[b] += counts[k][b];
      for (int k = me; k < all; k++) bounds[b] += counts[k][b - 1];
    }
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++) sorted[bounds[keys[i] / WIDTH]++] = keys[i];
    if (me < all - 1)
      for (int b = 0; b < BUCKETS; b++)
        for (int k = me + 1; k < all; k++) bounds[b] += counts[k][b];
#pragma omp for schedule(dynamic)
    for (int b = 0; b < BUCKETS; b++) {
      int first = b > 0 ? bounds[b - 1] : 0;
      for (int r = b * width; r < (b + 1) * width; r++) ranks[r] = 0;
      for (int i = first; i < bounds[b]; i++) ranks[sorted[i]]++;
      ranks[b * width] += first;
      for (int r = b * width + 1; r < (b + 1) * width; r++) ranks[r] += ranks[r - 1];
      for (struct node *at = lists[b]; at; at = at->next) at->value += ranks[b * width];
    }
  }
}

int main(void) {
  int threads = omp_get_max_threads();
  counts = malloc(threads * sizeof *counts);
  for (int k = 0; k < threads; k++) counts[k] = malloc(BUCKETS * sizeof **counts);
  for (int b = 0; b < BUCKETS; b++)
    for (int k = 0; k < b % 5; k++) {
      struct node *one = malloc(sizeof *one);
      *one = (struct node){lists[b], k};
      lists[b] = one;
    }
  unsigned long state = 7;
  for (int i = 0; i < KEYS; i++) {
    state = state * 6364136223846793005ul + 1;
    keys[i] = ((state >> 33) % (BUCKETS * WIDTH) + (state >> 45) % (BUCKETS * WIDTH)) / 2;
  }
  for (int turn = 0; turn < 8; turn++) {
    for (int i = 0; turn == 5 && i < KEYS; i += 3) keys[i] = (keys[i] * 7 + i) % (BUCKETS * WIDTH);
    sort(WIDTH);
    unsigned long sum = 0, wrong = 0;
    for (int r = 0; r < BUCKETS * WIDTH; r++) sum = sum * 31 + ranks[r];
    for (int i = 1; i < KEYS; i++) wrong += sorted[i] / WIDTH < sorted[i - 1] / WIDTH;
    for (int b = 0; b < BUCKETS; b++)
      for (struct node *at = lists[b]; at; at = at->next) sum = sum * 31 + at->value;
    printf("%d: %lu, %lu out of order\n", turn, sum, wrong);
  }
  return 0;
}
