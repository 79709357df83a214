// Random numbers that depend only on their index, so that everyone can draw any of them.
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static inline uint64_t scrambled(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// In [-1, 1).
static inline double uniform(uint64_t index) {
  return (double)(scrambled(index) >> 11) * 0x1p-52 - 1;
}

#endif
