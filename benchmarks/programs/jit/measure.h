// Times a loop when it has run for a while. Prints for each the seconds of a call, the least of many, and a checksum; in the
// end the memory that the program had.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + 1e-9 * at.tv_nsec;
}

static double *numbers(long count) {
  double *all = (double *)malloc(count * sizeof *all);
  for (long at = 0; at < count; at++) all[at] = (double)(at * 7919 % 10007) / 10007;
  return all;
}

// The loop runs for a second and 200 times at least before it is timed, and leaves `count` numbers at `out`. `scale` divides
// how long it runs.
static void measure(const char *name, void (*loop)(const void *), const void *data, double *out, long count, int scale) {
  memset(out, 0, count * sizeof *out);
  const double begin = now();
  for (int call = 0; call < 200 || now() - begin < 1.0 / scale; call++) loop(data);
  double least = 1e30;
  const int calls = scale > 1 ? 3 : 100;
  for (int call = 0; call < calls; call++) {
    const double start = now();
    loop(data);
    const double seconds = now() - start;
    if (seconds < least) least = seconds;
  }
  double sum = 0;
  for (long at = 0; at < count; at++) sum += out[at] * (double)(1 + at % 3);
  printf("%s time %.9f checksum %.17g\n", name, least, sum);
  fflush(stdout);
}

static void tell_memory(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("memory %ld\n", used.ru_maxrss);
}
