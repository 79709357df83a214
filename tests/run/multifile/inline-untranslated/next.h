__attribute__((noinline)) inline int next(int x) { return x + 1; }
