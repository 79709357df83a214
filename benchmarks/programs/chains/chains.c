// Runs all ways of a program in turn.
#include "chains.h"

#include "../common.h"

#include <omp.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 48 };
static struct way ways[MOST];
static size_t bytes[MOST];
static int count;

void add_way(const char *name, void (*run)(void)) {
  if (count == MOST) {
    fprintf(stderr, "there is no room for way %s\n", name);
    abort();
  }
  ways[count++] = (struct way){name, run};
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

// Elements that are temporary: all of them.
static struct block {
  double *first;
  size_t count;
  struct block *next;
} *blocks;
// Whether a way's temporaries are counted.
static int counts;

// What is no number: this one nobody computes.
static const uint64_t UNWRITTEN = 0x7ff4dead00000000u;

static void paint(double *first, size_t count) {
  for (size_t at = 0; at < count; at++)
    memcpy(first + at, &UNWRITTEN, sizeof UNWRITTEN);
}

static struct block *add_block(double *first, size_t count) {
  struct block *block = malloc(sizeof *block);
  if (!block)
    abort();
#pragma omp critical(blocks)
  {
    *block = (struct block){first, count, blocks};
    blocks = block;
  }
  return block;
}

void are_temporary(double *first, size_t count) { add_block(first, count); }

double *temporaries(size_t bytes) {
  static _Thread_local struct block *own;
  size_t count = bytes / sizeof(double);
  if (own && own->count >= count)
    return own->first;
  if (leave_out)
    leave_out(1);
  double *memory = allocate(count, sizeof *memory);
  if (counts)
    paint(memory, count);
  if (own) {
    free(own->first);
    own->first = memory;
    own->count = count;
  } else
    own = add_block(memory, count);
  if (leave_out)
    leave_out(0);
  return memory;
}

static void begin_counting(void) {
  for (struct block *block = blocks; block; block = block->next)
    paint(block->first, block->count);
  counts = 1;
  if (count_allocated)
    count_allocated(1);
}

static size_t counted(void) {
  counts = 0;
  if (count_allocated)
    count_allocated(0);
  size_t written = 0;
  for (struct block *block = blocks; block; block = block->next)
    for (size_t at = 0; at < block->count; at++)
      written += !!memcmp(block->first + at, &UNWRITTEN, sizeof UNWRITTEN);
  return written * sizeof(double) + (most_allocated ? most_allocated() : 0);
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

// Runs each way once; 1 where one computes something else than the first.
static int try_all(void) {
  uint64_t wanted = 0;
  for (int turn = 0; turn < count; turn++) {
    prepare();
    begin_counting();
    ways[turn].run();
    bytes[turn] = counted();
    uint64_t found = result();
    printf("way %s leaves %016llx\n", ways[turn].name, (unsigned long long)found);
    if (!turn)
      wanted = found;
    if (found != wanted) {
      printf("way %s computes something else\n", ways[turn].name);
      return 1;
    }
  }
  return 0;
}

int run_all(int repetitions, const char *only) {
  put_first(only ? only : "plain");
  if (only && (!count || strcmp(ways[0].name, only))) {
    printf("there is no way %s\n", only);
    return 1;
  }
  if (only)
    count = 1;
  if (try_all())
    return 1;
  for (int repetition = 0; repetition < repetitions; repetition++)
    for (int turn = 0; turn < count; turn++) {
      int at = (turn + repetition) % count;
      prepare();
      double begin = omp_get_wtime();
      ways[at].run();
      double seconds = omp_get_wtime() - begin;
      printf("way %s seconds %.9f bytes %zu\n", ways[at].name, seconds, bytes[at]);
    }
  return 0;
}
