// Chunks of dynamic and guided loops move to threads that are done: in one of some executions no thread sleeps for much
// longer than its part. (A thread that gets no processor for a while spoils some.) In each of them each iteration runs
// once, the last value is that of the last iteration, and sums are right, whoever ran what.
// threads: any
// ranks: 1 2 3 4
// reference: chunks-move.out
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 32, LEAST = 300, MOST_THREADS = 64, TRIES = 40 };

static int times[N], slept[MOST_THREADS], first[2 * N], second[2 * N];
static double row[N][64];

// Most work lies in the last iterations, in the first ones, or anywhere: in microseconds.
static int work(int kind, int i) {
  int step = kind == 0 ? i : kind == 1 ? N - 1 - i : i * 13 % N;
  return LEAST + step * 9 * LEAST / (N - 1);
}

static void run(int kind, int i) {
  usleep(work(kind, i));
  slept[omp_get_thread_num()] += work(kind, i);
  times[i]++;
  for (int k = 0; k < 64; k++) row[i][k] += i + k;
}

int main(void) {
  int wrong = 0;
  for (int kind = 0; kind < 3; kind++) {
    for (int guided = 0; guided < 2; guided++) {
      int is_balanced = 0;
      long total = 0;
      for (int i = 0; i < N; i++) total += work(kind, i);
      for (int try = 0; try < TRIES && !is_balanced; try++) {
        int threads = 1, last = -1;
        long sum = 0, most = 0;
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp master
          threads = omp_get_num_threads();
          if (guided) {
#pragma omp for schedule(guided) lastprivate(last)
            for (int i = N - 1; i >= 0; i--) {
              run(kind, i);
              sum += i;
              last = i;
            }
          } else {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < N; i++) {
              run(kind, i);
              sum += i;
            }
          }
        }
        for (int t = 0; t < MOST_THREADS; t++) {
          if (slept[t] > most) most = slept[t];
          slept[t] = 0;
        }
        for (int i = 0; i < N; i++) {
          wrong += times[i] != 1;
          times[i] = 0;
          for (int k = 0; k < 64; k++) {
            wrong += row[i][k] != i + k;
            row[i][k] = 0;
          }
        }
        wrong += sum != N * (N - 1) / 2;
        wrong += guided && last != 0;
        // Blocks that are run as they are dealt out leave a thread of two with 1.4 times its part where the work grows, of
        // eight with 1.8 times; an iteration is at most a tenth of the part of one of two.
        double part = (double)total / threads;
        is_balanced = most <= (threads <= 4 ? 1.3 : 1.6) * part;
      }
      printf("%d %d: %s\n", kind, guided, is_balanced ? "balanced" : "not balanced");
    }
  }
  // A thread that comes late finds that others have run most of what was dealt to it; and so with a loop after a loop.
  int is_relieved = 0;
  for (int try = 0; try < TRIES && !is_relieved; try++) {
    int threads = 1, ran[2] = {0};
#pragma omp parallel
    {
#pragma omp master
      threads = omp_get_num_threads();
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 2 * N; i++) {
        usleep(omp_get_thread_num() == 0 ? 4 * LEAST : LEAST);
        first[i]++;
        if (omp_get_thread_num() == 0) ran[0]++;
      }
#pragma omp master
      usleep(2 * N * LEAST);
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 2 * N; i++) {
        usleep(LEAST);
        second[i]++;
        if (omp_get_thread_num() == 0) ran[1]++;
      }
    }
    for (int i = 0; i < 2 * N; i++) {
      wrong += first[i] != 1 || second[i] != 1;
      first[i] = second[i] = 0;
    }
    is_relieved = threads == 1 || (3 * ran[0] * threads < 4 * N && 3 * ran[1] * threads < 4 * N);
  }
  printf("%s\n%d wrong\n", is_relieved ? "relieved" : "not relieved", wrong);
  return 0;
}
