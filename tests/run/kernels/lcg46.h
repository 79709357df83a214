// The linear congruential generator of the NAS parallel benchmarks:
// x' = 5^13 x mod 2^46, and the uniform number x' / 2^46 in (0, 1).
// 2^46 divides 2^64, so wrapping 64-bit products are exact.
#ifndef LCG46_H
#define LCG46_H

#include <stdint.h>

#define LCG_MULTIPLIER UINT64_C(1220703125)
#define LCG_MASK ((UINT64_C(1) << 46) - 1)

static inline double lcg_next(uint64_t *state) {
  *state = (*state * LCG_MULTIPLIER) & LCG_MASK;
  return (double)*state * 0x1p-46;
}

// The state after `steps` more calls of lcg_next.
static inline uint64_t lcg_jump(uint64_t state, uint64_t steps) {
  for (uint64_t power = LCG_MULTIPLIER; steps != 0; steps >>= 1) {
    if (steps & 1)
      state = (state * power) & LCG_MASK;
    power = (power * power) & LCG_MASK;
  }
  return state;
}

#endif
