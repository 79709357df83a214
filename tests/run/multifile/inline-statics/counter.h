#pragma once
#include <vector>

struct Registry {
  std::vector<int> values;
  Registry() : values(64, 5) {}
  static Registry &get() {
    static Registry registry;
    return registry;
  }
  int value(int i) const { return values[static_cast<std::size_t>(i)]; }
};

inline int next_ticket() {
  static int ticket = 100;
  return ++ticket;
}

template <typename T> struct Shared {
  static inline int count = 1;
};

void other_file();
