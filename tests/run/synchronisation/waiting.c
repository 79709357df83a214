// Threads that wait for each other with atomic accesses that acquire: a pipeline, a lock, a count of those who have
// arrived. What was written before the releasing access is seen.
// limit: 60
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

enum { N = 3000, ROUNDS = 12 };
static double data[N], sums[64];
static int done[64], locked, arrived, generation;
static atomic_int busy;

static int turn(const int *place) {
  int value;
#pragma omp atomic read acquire
  value = *place;
  return value;
}

static void pipeline(int me, int n) {
  for (int round = 1; round <= ROUNDS; round++) {
    int before = (me + n - 1) % n, needed = me == 0 ? round - 1 : round;
    while (turn(&done[before]) < needed) {
    }
    for (int i = 0; i < N; i++)
      data[i] = data[i] * 0.5 + i % 7 + round;
#pragma omp atomic write release
    done[me] = round;
  }
}

static void spin_lock(void) {
  for (int k = 0; k < 10; k++) {
    while (atomic_exchange_explicit(&busy, 1, memory_order_acquire)) {
    }
    sums[0] += k;
    sums[40] = sums[0];
    atomic_store_explicit(&busy, 0, memory_order_release);
  }
}

// A barrier by hand, of updates that order nothing themselves.
static void gather(int n) {
  int before = turn(&generation), last;
#pragma omp atomic capture acq_rel
  last = ++arrived;
  if (last == n) {
#pragma omp atomic write
    arrived = 0;
#pragma omp atomic update release
    generation += 1;
  } else {
    int now = before;
    while (now == before) {
#pragma omp atomic read seq_cst
      now = generation;
    }
  }
}

int main(void) {
  double total = 0;
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num(), n = omp_get_num_threads();
    pipeline(me, n);
    spin_lock();
    for (int round = 0; round < 5; round++) {
      sums[8 + me] = round + me;
      gather(n);
      for (int other = 0; other < n; other++)
        wrong += sums[8 + other] != round + other;
      gather(n);
    }
    // Those who have arrived have counted themselves, in whatever order the others look.
#pragma omp atomic
    locked += 1;
    while (turn(&locked) < n) {
    }
  }
  for (int i = 0; i < N; i++)
    total += data[i] * i;
  printf("%.10g %g %d %d\n", total, sums[40], wrong, locked);
  return 0;
}
