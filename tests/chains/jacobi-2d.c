// variants: TEMPORARY
// schedules: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
// refused: 90 91 92 93 94 95 96
//
// Two sweeps of Jacobi's method over a plane, to and fro: acceptance rows U4, T1, T3, T4, P1, W1. With TEMPORARY, `a` is
// `local`: its border is set before, and read.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse
#elif SCHEDULE == 4
#define ITEMS fuse((0, 0), (1, 1))
#elif SCHEDULE == 5
// Whole rows follow each other: columns need no shift.
#define ITEMS fuse((0, 0), (1, 0))
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((8, 8), serial, serial)
#elif SCHEDULE == 7
#define ITEMS fuse(), tile((8, 8), wavefront, serial)
#elif SCHEDULE == 8
#define ITEMS fuse(), wavefront
#elif SCHEDULE == 9
#define ITEMS parallel
#elif SCHEDULE == 10
#define ITEMS tile((8, 16), parallel, serial)
#elif SCHEDULE == 11
#define ITEMS tile((8, 8), serial, parallel)
#elif SCHEDULE == 12
#define ITEMS tile((8, 8), serial, serial), fuse()
#elif SCHEDULE == 13
#define ITEMS fuse(), tile((8, 8), parallel, serial, overlap)
#elif SCHEDULE == 14
#define ITEMS fuse(), tile((rows, columns), wavefront, serial)
#elif SCHEDULE == 15
#define ITEMS fuse(), tile((16, 16), wavefront, tile((4, 4), serial, serial))
#elif SCHEDULE == 16
#define ITEMS fuse(), tile((8, 8), serial, wavefront)
#elif SCHEDULE == 17
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 18
#define ITEMS wavefront
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#elif SCHEDULE == 92
#define ITEMS fuse(), tile((8, 8), parallel, serial)
#elif SCHEDULE == 93
// Legal for rows, not for tiles of them.
#define ITEMS fuse((0, 0), (1, 0)), tile((8, 8), serial, serial)
#elif SCHEDULE == 94
#define ITEMS fuse((0, 0))
#elif SCHEDULE == 95
#define ITEMS tile((8, 8, 8), serial, serial)
#elif SCHEDULE == 96
#define ITEMS fuse(), tile((8, 8), serial, parallel)
#endif

#ifdef TEMPORARY
#define PLACE local a
#else
#define PLACE
#endif

#define A(i, j) a[(i) * width + (j)]
#define B(i, j) b[(i) * width + (j)]

static void pair(double *a, double *b, int n, int rows, int columns) {
  long width = n + 2;
  (void)rows, (void)columns;
  PRAGMA(omplc loopchain schedule(ITEMS) PLACE)
  {
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write a{(i, j)}, \
    read b{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        A(i, j) = (B(i - 1, j) + B(i, j) + B(i + 1, j) + B(i, j - 1) + B(i, j + 1)) * 0.2;
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write b{(i, j)}, \
    read a{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        B(i, j) = (A(i - 1, j) + A(i, j) + A(i + 1, j) + A(i, j - 1) + A(i, j + 1)) * 0.2;
  }
}

static void wanted(double *a, double *b, int n) {
  long width = n + 2;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      A(i, j) = (B(i - 1, j) + B(i, j) + B(i + 1, j) + B(i, j - 1) + B(i, j + 1)) * 0.2;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      B(i, j) = (A(i - 1, j) + A(i, j) + A(i + 1, j) + A(i, j - 1) + A(i, j + 1)) * 0.2;
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 37), times = argument(argc, argv, 2, 3);
  int rows = argument(argc, argv, 3, 5), columns = argument(argc, argv, 4, 11);
  long size = (long)(n + 2) * (n + 2);
  double *planes[4];
  for (int plane = 0; plane < 4; plane++) {
    planes[plane] = doubles(size);
    for (long at = 0; at < size; at++)
      planes[plane][at] = noise(at + 100000 * (plane % 2));
  }
  for (int t = 0; t < times; t++) {
    pair(planes[0], planes[1], n, rows, columns);
    wanted(planes[2], planes[3], n);
  }
#ifdef TEMPORARY
  int right = 1;
#else
  int right = same("a", planes[0], planes[2], size);
  print_doubles("a", planes[0], size);
#endif
  right &= same("b", planes[1], planes[3], size);
  print_doubles("b", planes[1], size);
  for (int plane = 0; plane < 4; plane++)
    free(planes[plane]);
  puts(right ? "right" : "wrong");
  return !right;
}
