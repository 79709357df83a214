// Large variables stay on the device as large blocks of the heap do: of a file, of a function, of another file. However often the program steps through time they go there once; what the host reads and writes
// in between, also by the C library, the system and threads, is copied by pages. Small variables beside them are copied.
//
// RUN: %okl-cc -O3 -g -fopenmp --okl-target=cuda,cpu --okl-strict %s -c -DOTHER -o %t.o
// RUN: %okl-cc -O3 -g -fopenmp --okl-target=cuda,cpu --okl-strict %s %t.o -o %t -lm
// RUN: for way in cpu cuda-emulated; do OMP_NUM_THREADS=2 OKL_BACKEND=$way %t 30 all > %t.$way; done && cmp %t.cpu %t.cuda-emulated && FileCheck --check-prefix=HOST --input-file=%t.cpu %s
// HOST: 30: {{.*}} forked 0
//
// RUN: for steps in 2 12; do OKL_STATS=1 OKL_BACKEND=cuda-emulated %t $steps 2>&1 | awk '$1 == "step" || $1 == "add" { print $1, $2, $4 * 1000, $5 * 1000 }' | sort; done | FileCheck --match-full-lines %s
// CHECK:      add 2 221 221
// CHECK-NEXT: step 2 0 180
// CHECK-NEXT: step 2 360 0
// CHECK-NEXT: add 12 221 221
// CHECK-NEXT: step 12 0 180
// CHECK-NEXT: step 12 360 0
//
// A program without symbols copies them each time.
// RUN: cp %t %t.stripped && llvm-strip %t.stripped && OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated %t.stripped 30 all | cmp %t.cpu -
enum { N = 150, M = 9000 };

#ifdef OTHER
extern double both[M];
double others[M] = {1, 2, 3};
void touch_others(void) { both[5] += others[7]; }
#else
double both[M];
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern double others[M];
void touch_others(void);

static int calls;
static double a[N][N], b[N][N];
static double weight = 0.25;
static int few[3];

static double step(void) {
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      b[i][j] = weight * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
      most = fmax(most, fabs(b[i][j] - a[i][j]));
    }
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      a[i][j] = b[i][j];
  return most;
}

static double *add(const double *first, const double *end) {
  static double total[M + 3];
#pragma omp parallel for
  for (int i = 0; i < end - first; i++) {
    total[i] += end[-1 - i] + others[i];
    both[i] = total[i] / 2;
  }
  calls++;
  return total;
}

static void *write_some(void *at) {
  for (int i = 0; i < N; i++)
    a[1 + (long)at][i] += 0.5;
  return 0;
}

static double sum(const double *of, int n) {
  double all = 0;
  for (int i = 0; i < n; i++)
    all += of[i] * (1 + i % 7);
  return all;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 2, everything = argc > 2, status = 0;
  double change = 0, *total = 0;
  for (int i = 0; i < N; i++)
    a[i][0] = b[i][0] = i, a[0][i] = b[0][i] = 2 * i;
  for (int s = 0; s < steps; s++) {
    change = step();
    total = add(others, others + M);
    if (!everything)
      continue;
    // The C library, the system, and threads.
    memcpy(a[3], a[40], sizeof a[3]);
    memmove(&total[100], &both[17], 3000 * sizeof(double));
    if (s % 4 == 0) {
      int ends[2];
      if (pipe(ends) || write(ends[1], a[20], sizeof a[20]) != sizeof a[20] || read(ends[0], a[21], sizeof a[21]) != sizeof a[21])
        return 1;
      close(ends[0]), close(ends[1]);
      FILE *file = tmpfile();
      if (fwrite(both, sizeof(double), M, file) != M)
        return 1;
      rewind(file);
      if (fread(others, sizeof(double), M, file) != M)
        return 1;
      fclose(file);
    }
    if (s % 5 == 0) {
      pthread_t threads[3];
      for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, write_some, (void *)(30 * i));
      for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    }
    if (s % 10 == 3) {
      fflush(stdout);
      pid_t child = fork();
      if (!child) {
        total[3] = 7;
        _exit(total[3] == 7 && both[5] == both[5] && a[N - 1][N - 1] == 0 ? 0 : 1);
      }
      int its;
      waitpid(child, &its, 0);
      status |= its;
      total[4] += 1;
    }
    few[s % 3]++;
    weight = 0.25 - 0.0001 * s;
    touch_others();
  }
  printf("%d: %.9g %.12g %.12g %.12g %.12g %d %d forked %d\n", steps, change, sum(*a, N * N), sum(total, M), sum(both, M),
         sum(others, M), calls, few[0], status);
}
#endif
