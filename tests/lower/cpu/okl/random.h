// Numbers that look like random ones, the same in each run.
#pragma once
static unsigned long long state = 0x9e3779b97f4a7c15;
static unsigned long long any() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 11;
}
static long any(long least, long most) { return least + long(any() % (unsigned long)(most - least + 1)); }
