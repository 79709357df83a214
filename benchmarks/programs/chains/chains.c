// Runs all ways of a program in turn.
#include "chains.h"

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 32 };
static struct way ways[MOST];
static int count;

void add_way(const char *name, void (*run)(void), size_t (*temporaries)(void)) {
  if (count < MOST)
    ways[count++] = (struct way){name, run, temporaries};
}

// The one that others are compared with comes first, whatever the linker does.
static void put_first(const char *name) {
  for (int at = 1; at < count; at++)
    if (!strcmp(ways[at].name, name)) {
      struct way way = ways[at];
      memmove(ways + 1, ways, (size_t)at * sizeof *ways);
      ways[0] = way;
    }
}

// Of all bits: each double counts with a factor of its own.
static uint64_t result(void) {
  uint64_t sum = 0, place = 1;
  for (size_t number = 0; number < pieces(); number++) {
    size_t length;
    const double *data = piece(number, &length);
    for (size_t at = 0; at < length; at++, place += 2) {
      uint64_t bits;
      memcpy(&bits, data + at, sizeof bits);
      sum += (bits ^ (bits >> 31)) * (place * 0x9e3779b97f4a7c15u | 1);
    }
  }
  return sum;
}

int run_all(int repetitions, const char *only) {
  put_first(only ? only : "plain");
  if (only && (!count || strcmp(ways[0].name, only))) {
    printf("there is no way %s\n", only);
    return 1;
  }
  if (only)
    count = 1;
  uint64_t wanted = 0;
  for (int repetition = -1; repetition < repetitions; repetition++)
    for (int turn = 0; turn < count; turn++) {
      // The first repetition says who is right, and is not timed.
      struct way *way = ways + (repetition < 0 ? turn : (turn + repetition) % count);
      prepare();
      double begin = omp_get_wtime();
      way->run();
      double seconds = omp_get_wtime() - begin;
      if (repetition < 0) {
        uint64_t found = result();
        if (!turn)
          wanted = found;
        if (found != wanted) {
          printf("way %s computes something else\n", way->name);
          return 1;
        }
        continue;
      }
      printf("way %s seconds %.9f bytes %zu\n", way->name, seconds, way->temporaries ? way->temporaries() : 0);
    }
  return 0;
}
