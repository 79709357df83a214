// Atomic updates whose old value nobody uses, collected until threads synchronise: of every size, operation
// and mixture, among accesses that must see them, and before every kind of synchronisation.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 120
#define BINS 97

int counts[BINS];
double sums[BINS];
float singles[BINS];
long least[BINS], most[BINS];
struct record {
  unsigned char bits, small;
  short medium;
  int whole;
  double real;
} records[BINS];

static unsigned key(unsigned i) { return (i * 2654435761u >> 7) % BINS; }

static void fill(void) {
  for (int b = 0; b < BINS; b++) {
    counts[b] = b % 5, sums[b] = b, singles[b] = 0, least[b] = 1000000, most[b] = -1;
    records[b] = (struct record){0};
  }
}

static void print(const char *what) {
  long a = 0, c = 0;
  double s = 0;
  for (int b = 0; b < BINS; b++) {
    a += (long)counts[b] * (b + 1), c += (least[b] * 3 + most[b]) * (b + 1);
    s += (sums[b] + singles[b]) * (b + 1);
    a += records[b].bits + 3L * records[b].small + 5L * records[b].medium + 7L * records[b].whole;
    s += records[b].real;
  }
  printf("%s: %ld %ld %.1f\n", what, a, c, s);
}

static void update(int i, int *heap) {
  int b = key(i);
#pragma omp atomic
  counts[b]++;
#pragma omp atomic
  sums[b] += i % 16;
#pragma omp atomic
  singles[b] -= i % 4;
#pragma omp atomic compare
  if (least[b] > i) least[b] = i;
#pragma omp atomic compare
  if (most[b] < i) most[b] = i;
#pragma omp atomic
  records[b].bits |= 1 << i % 8;
#pragma omp atomic
  records[b].small ^= i;
#pragma omp atomic
  records[b].medium += 3;
#pragma omp atomic
  records[b].whole -= i;
#pragma omp atomic
  records[b].real += 0.5;
#pragma omp atomic
  heap[b * 31] += i;
}

static void all(int *heap) {
  fill();
#pragma omp parallel for
  for (int i = 0; i < N; i++) update(i, heap);
  print("all");
}

// Updated and read by turns, in one region, with barriers between.
static void by_turns(int *heap) {
  fill();
  long seen[4] = {0};
#pragma omp parallel
  for (int round = 0; round < 4; round++) {
#pragma omp for
    for (int i = 0; i < N; i++) update(i + round, heap);
    long mine = 0;
#pragma omp for nowait
    for (int b = 0; b < BINS; b++) mine += counts[b] + (long)sums[b] + heap[b * 31];
#pragma omp atomic
    seen[round] += mine;
#pragma omp barrier
  }
  for (int round = 0; round < 4; round++) printf("round %d: %ld\n", round, seen[round]);
  print("by turns");
}

// Each thread has bins of its own and stores to them, loads, captures and reads between updates.
static void own(void) {
  fill();
  long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int t = omp_get_thread_num(), n = omp_get_num_threads();
    for (int round = 0; round < 3; round++) {
      for (int b = t; b < BINS; b += n) {
        counts[b] = 10;
        for (int i = 0; i < 5; i++) {
#pragma omp atomic
          counts[b] += i;
          int seen;
#pragma omp atomic read
          seen = counts[b];
          wrong += seen != 10 + i * (i + 1) / 2;
        }
        wrong += counts[b] != 20;
        counts[b] = 3;
#pragma omp atomic
        counts[b] += 4;
        wrong += counts[b] != 7;
        int old;
#pragma omp atomic capture
        {
          old = counts[b];
          counts[b] += 1;
        }
        wrong += old != 7;
#pragma omp atomic
        counts[b] -= 1;
        sums[b] = counts[b];
#pragma omp atomic
        sums[b] += 1;
        wrong += sums[b] != 8;
      }
#pragma omp barrier
      // A neighbour's.
      for (int b = (t + 1) % n; b < BINS; b += n) wrong += counts[b] != 7 || sums[b] != 8;
#pragma omp barrier
    }
  }
  printf("own: %ld\n", wrong);
}

// What was updated before a lock is released, whoever takes the lock next sees.
static void under_locks(void) {
  fill();
  omp_lock_t lock;
  omp_init_lock(&lock);
  int rounds = 0, wrong = 0, before = counts[5];
#pragma omp parallel
  for (int i = 0; i < 20; i++) {
#pragma omp atomic
    counts[5] += 2;
    omp_set_lock(&lock);
    rounds++;
    int seen;
#pragma omp atomic read
    seen = counts[5];
    wrong += seen - before < 2 * rounds;
    omp_unset_lock(&lock);
#pragma omp atomic
    sums[6] += 1;
#pragma omp critical
    {
      double seen;
#pragma omp atomic read
      seen = sums[6];
      wrong += seen < 7;
    }
  }
  omp_destroy_lock(&lock);
  printf("locks: %d %d %d %.0f\n", rounds == 20 * omp_get_max_threads(), wrong,
         counts[5] - before == 2 * rounds, sums[6] - 6 - rounds);
}

static void constructs(int *heap) {
  fill();
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < N; i++) update(i, heap);
#pragma omp for nowait schedule(dynamic, 7)
    for (int i = 0; i < N; i++) update(i + 3, heap);
#pragma omp single nowait
    for (int i = 0; i < 50; i++) update(i, heap);
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(i)
      update(i, heap);
    }
#pragma omp master
    update(17, heap);
#pragma omp taskwait
#pragma omp for ordered
    for (int i = 0; i < 40; i++) {
      update(i, heap);
#pragma omp ordered
      update(i + 1, heap);
    }
#pragma omp flush
#pragma omp sections
    {
#pragma omp section
      update(1, heap);
#pragma omp section
      update(2, heap);
    }
  }
  print("constructs");
}

// Different operations and sizes on the same bytes, one thread each.
static void punned(void) {
  static union {
    long whole;
    int half[2];
    short quarter[4];
    unsigned char bytes[8];
  } words[64];
  memset(words, 1, sizeof words);
#pragma omp parallel for schedule(static, 1)
  for (int w = 0; w < 64; w++)
    for (int i = 0; i < 20; i++) {
#pragma omp atomic
      words[w].whole += 0x0102030405060708L * i;
#pragma omp atomic
      words[w].half[i % 2] ^= i * 77777;
      words[w].bytes[i % 8] = i;
#pragma omp atomic
      words[w].quarter[i % 4] -= i * 333;
#pragma omp atomic
      words[w].bytes[(i + 3) % 8] |= 5;
    }
  unsigned long sum = 0;
  for (int w = 0; w < 64; w++) sum = sum * 31 + (unsigned long)words[w].whole;
  printf("punned: %lx\n", sum);
}

int main(void) {
  int *heap = calloc(BINS * 31, sizeof *heap);
  for (int i = 0; i < 3; i++) all(heap);
  by_turns(heap);
  own();
  under_locks();
  constructs(heap);
  punned();
  long sum = 0;
  for (int i = 0; i < BINS * 31; i++) sum += (long)heap[i] * (i % 7);
  printf("heap: %ld\n", sum);
  free(heap);
  return 0;
}
