// schedules: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14
// refused: 90 91 92 93
//
// Two sweeps of Jacobi's method over a line, to and fro, in a loop over time: acceptance rows U3, T2 and P2.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse((0), (1))
#elif SCHEDULE == 4
#define ITEMS fuse((0), (3))
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((8), wavefront, serial)
#elif SCHEDULE == 7
#define ITEMS tile((8), parallel, serial)
#elif SCHEDULE == 8
#define ITEMS tile((8), serial, parallel)
#elif SCHEDULE == 9
#define ITEMS parallel
#elif SCHEDULE == 10
#define ITEMS serial
#elif SCHEDULE == 11
#define ITEMS tile((8), serial, serial), fuse()
#elif SCHEDULE == 12
#define ITEMS fuse(), tile((16), parallel, serial, overlap)
#elif SCHEDULE == 13
#define ITEMS fuse(), tile((16), serial, tile((4), serial, serial))
#elif SCHEDULE == 14
// The tile is longer than the line, and shorter than a reach.
#define ITEMS fuse(), tile((1000), serial, tile((1), serial, serial))
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#elif SCHEDULE == 92
#define ITEMS fuse(), tile((8), parallel, serial)
#elif SCHEDULE == 93
#define ITEMS tile((8, 8), serial, serial)
#endif

static void steps(double *a, double *b, int n, int times) {
  for (int t = 0; t < times; t++) {
    PRAGMA(omplc loopchain schedule(ITEMS))
    {
#pragma omplc for domain(1 : n) with(i) write a{(i)}, read b{(i - 1), (i), (i + 1)}
      for (int i = 1; i <= n; i++)
        a[i] = (b[i - 1] + b[i] + b[i + 1]) * (1.0 / 3.0);
#pragma omplc for domain(1 : n) with(i) write b{(i)}, read a{(i - 1), (i), (i + 1)}
      for (int i = 1; i <= n; i++)
        b[i] = (a[i - 1] + a[i] + a[i + 1]) * (1.0 / 3.0);
    }
  }
}

static void wanted(double *a, double *b, int n, int times) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i <= n; i++)
      a[i] = (b[i - 1] + b[i] + b[i + 1]) * (1.0 / 3.0);
    for (int i = 1; i <= n; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) * (1.0 / 3.0);
  }
}

int main(int argc, char **argv) {
  int right = 1, n = argument(argc, argv, 1, 133), times = argument(argc, argv, 2, 5);
  // The line itself, one of a single iteration, and one of none.
  const int sizes[] = {n, 1, 0};
  for (int which = 0; which < 3; which++) {
    int size = sizes[which];
    double *lines[4];
    for (int line = 0; line < 4; line++) {
      lines[line] = doubles(size + 2);
      for (int i = 0; i < size + 2; i++)
        lines[line][i] = noise(i + 1000 * (line % 2));
    }
    steps(lines[0], lines[1], size, times);
    wanted(lines[2], lines[3], size, times);
    right &= same("a", lines[0], lines[2], size + 2) & same("b", lines[1], lines[3], size + 2);
    print_doubles("a", lines[0], size + 2);
    print_doubles("b", lines[1], size + 2);
    for (int line = 0; line < 4; line++)
      free(lines[line]);
  }
  puts(right ? "right" : "wrong");
  return !right;
}
