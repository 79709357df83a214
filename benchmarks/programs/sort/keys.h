// The keys of the bucket sort, and the buckets: each holds RANGE / BUCKETS neighbouring values.
#ifndef KEYS_H
#define KEYS_H

#include "../common.h"
#include "../random.h"

enum { RANGE = 1 << 20, BUCKETS = 256, WIDTH = RANGE / BUCKETS };

// Key number i of an iteration.
static inline int new_key(int iteration, int i) {
  return (int)(scrambled((uint64_t)iteration << 32 | (uint32_t)i) % RANGE);
}

// Sorts keys that are all of one bucket by counting them.
static inline void sort_bucket(int bucket, const int *keys, int count, int *sorted) {
  int found[WIDTH] = {0};
  for (int i = 0; i < count; i++)
    found[keys[i] - bucket * WIDTH]++;
  int next = 0;
  for (int value = 0; value < WIDTH; value++)
    for (int times = found[value]; times > 0; times--)
      sorted[next++] = bucket * WIDTH + value;
}

#endif
