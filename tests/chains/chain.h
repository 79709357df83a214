// What the programs with loop chains share. Knows nothing of chains but that SCHEDULE says which of a program's schedules its
// chains have: 0 is the empty one, 1 is `auto`, others each program names. All print bits: no schedule may change one.
#ifndef CHAIN_H
#define CHAIN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SCHEDULE
#define SCHEDULE 0
#endif

// A pragma whose words are macros.
#define PRAGMA(...) PRAGMA_OF(__VA_ARGS__)
#define PRAGMA_OF(...) _Pragma(#__VA_ARGS__)

// The same number in [0, 1) for the same place, on every machine.
static inline double noise(long place) {
  uint64_t bits = (uint64_t)place * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 32;
  return (double)(bits >> 11) * 0x1p-53;
}

// A number that changes with each bit of each element.
static inline uint64_t mix_of(uint64_t mix, const void *data, size_t bytes) {
  const unsigned char *byte = (const unsigned char *)data;
  for (size_t at = 0; at < bytes; at++)
    mix = (mix ^ byte[at]) * 0x100000001b3u;
  return mix;
}

static inline void print_doubles(const char *name, const double *data, long count) {
  double sum = 0;
  for (long at = 0; at < count; at++)
    sum += data[at];
  printf("%s: %016llx sum %a\n", name,
         (unsigned long long)mix_of(0xcbf29ce484222325u, data, (size_t)count * sizeof *data), sum);
}

static inline void print_floats(const char *name, const float *data, long count) {
  double sum = 0;
  for (long at = 0; at < count; at++)
    sum += data[at];
  printf("%s: %016llx sum %a\n", name,
         (unsigned long long)mix_of(0xcbf29ce484222325u, data, (size_t)count * sizeof *data), sum);
}

// Whether two results are the same to the last bit; says where they are not.
static inline int same(const char *name, const double *found, const double *wanted, long count) {
  for (long at = 0; at < count; at++)
    if (memcmp(&found[at], &wanted[at], sizeof *found)) {
      printf("%s is wrong at %ld: %a, not %a\n", name, at, found[at], wanted[at]);
      return 0;
    }
  return 1;
}

static inline int same_floats(const char *name, const float *found, const float *wanted, long count) {
  for (long at = 0; at < count; at++)
    if (memcmp(&found[at], &wanted[at], sizeof *found)) {
      printf("%s is wrong at %ld: %a, not %a\n", name, at, (double)found[at], (double)wanted[at]);
      return 0;
    }
  return 1;
}

static inline double *doubles(long count) {
  double *data = (double *)malloc((size_t)count * sizeof *data);
  if (!data) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return data;
}

// Argument `position` as a number, or `otherwise`.
static inline int argument(int argc, char **argv, int position, int otherwise) {
  return position < argc ? atoi(argv[position]) : otherwise;
}

#endif
