// What all benchmark programs share: numbers from the command line, memory, and
// the one line they print. Knows neither OpenMP nor MPI.
#ifndef COMMON_H
#define COMMON_H

#include <stdio.h>
#include <stdlib.h>

// Argument `position` as a number of at least `least`, or `otherwise` if it is not given.
static inline int number(int argc, char **argv, int position, int otherwise, int least) {
  if (position >= argc)
    return otherwise;
  char *end;
  long value = strtol(argv[position], &end, 10);
  if (*end || end == argv[position] || value < least || value > 1 << 30) {
    fprintf(stderr, "%s: argument %d is '%s', not a number of at least %d\n", argv[0], position,
            argv[position], least);
    exit(2);
  }
  return (int)value;
}

static inline void *allocate(size_t count, size_t size) {
  void *memory = malloc(count * size);
  if (!memory) {
    fprintf(stderr, "out of memory for %zu x %zu bytes\n", count, size);
    exit(1);
  }
  return memory;
}

static inline void print_result(double seconds, int iterations, double checksum) {
  printf("time %.9f iterations %d checksum %.17g\n", seconds, iterations, checksum);
}

#endif
