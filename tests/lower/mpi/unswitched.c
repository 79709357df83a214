// LLVM leads control past loops that have no turns, and past all else that asks for the same: what is written behind them is
// written for sure where there are turns.
// RUN: clang-22 -O3 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s

// A write (2) of elements of 16 bytes in four dimensions, neither one that may be (4) nor a bound of one (16).
// CHECK: { i64 2, i64 16, i64 4, ptr
// CHECK-NOT: { i64 22, i64 16, i64 4, ptr
struct pair {
  double a, b;
};

static void line(struct pair *line, int n) {
  for (int half = 1; half < n; half *= 2)
    for (int block = 0; block < n; block += 2 * half)
      for (int k = 0; k < half; k++) {
        line[block + k].a += line[block + half + k].b;
        line[block + half + k].b -= line[block + k].a;
      }
}

static void turn(struct pair *from, long stride, int lines, int together, struct pair *buffer) {
  for (int at = 0; at < lines; at++)
    for (int p = 0; p < together; p++) buffer[p * lines + at] = from[at * stride + p];
  for (int p = 0; p < together; p++)
    line(buffer + p * lines, lines);
  for (int at = 0; at < lines; at++)
    for (int p = 0; p < together; p++) from[at * stride + p] = buffer[p * lines + at];
}

void turn_all(struct pair *cube, int n, int together) {
#pragma omp parallel
  {
    struct pair buffer[8 * n];
#pragma omp for
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k += together) turn(cube + (long)j * n + k, (long)n * n, n, together, buffer);
  }
}
