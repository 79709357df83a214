// Chunks of every schedule with a chunk size are whole: a thread runs all iterations of one, so that
// bits of one word need no protection; no chunk of a guided loop but the last is shorter than asked.
// threads: any
// env: OMP_SCHEDULE=dynamic,320
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 20011, WORDS = N / 64 + 1 };

static uint64_t words[WORDS];
static int owner[N];

static void set(int i) {
  words[i / 64] |= UINT64_C(1) << (i % 64);
  owner[i] = omp_get_thread_num();
}

// Bits that were lost, and chunks that were not whole.
static void report(const char *what, int chunk, int guided) {
  int lost = 0, broken = 0, length = 0;
  for (int i = 0; i < N; i++) {
    lost += !(words[i / 64] >> (i % 64) & 1);
    length = i > 0 && owner[i] == owner[i - 1] ? length + 1 : 1;
    if (!guided) broken += i % chunk != 0 && length == 1;
    else broken += length < chunk && i + 1 < N && owner[i] != owner[i + 1];
  }
  printf("%s %d: %d lost, %d broken\n", what, chunk, lost, broken);
  for (int w = 0; w < WORDS; w++) words[w] = 0;
}

int main(void) {
  for (int chunk = 64; chunk < N; chunk *= 5) {
#pragma omp parallel for schedule(dynamic, chunk)
    for (int i = 0; i < N; i++) set(i);
    report("dynamic", chunk, 0);
#pragma omp parallel for schedule(nonmonotonic : dynamic, chunk)
    for (int i = N - 1; i >= 0; i--) owner[i] = omp_get_thread_num();
    int broken = 0;
    for (int i = 1; i < N; i++) broken += (N - i) % chunk != 0 && owner[i] != owner[i - 1];
    printf("downwards: %d\n", broken);
    // Words must not lie in two chunks of a guided loop, whose borders are where they come.
#pragma omp parallel for schedule(guided, chunk)
    for (int i = 0; i < N; i++) owner[i] = omp_get_thread_num();
    for (int i = 0; i < N; i++) words[i / 64] |= UINT64_C(1) << (i % 64);
    report("guided", chunk, 1);
  }
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < N; i++) set(i);
  report("runtime", 320, 0);
  omp_set_schedule(omp_sched_dynamic, 704);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < N; i++) set(i);
  report("set", 704, 0);
  omp_set_schedule(omp_sched_guided, 704);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < N; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < N; i++) words[i / 64] |= UINT64_C(1) << (i % 64);
  report("set guided", 704, 1);
  // The stride of chunks of this loop leaves the type of its variable.
#pragma omp parallel for schedule(static, 4096)
  for (int i = INT_MAX - N; i < INT_MAX; i++) set(i - (INT_MAX - N));
  report("static", 4096, 0);
  return 0;
}
