// schedules: 0 1 2 3 4 5 6 7 8 9 93
// refused: 90 91 92
//
// Gauss and Seidel's sweeps, in place: each cell needs two neighbours of this sweep and two of the last one, so that iterations of
// one loop depend on each other and only a wavefront is parallel.

#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS wavefront
#elif SCHEDULE == 3
#define ITEMS fuse(), wavefront
#elif SCHEDULE == 4
#define ITEMS tile((8, 8), wavefront, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((8, 8), wavefront, serial)
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((4, 16), wavefront, wavefront)
#elif SCHEDULE == 7
#define ITEMS fuse()
#elif SCHEDULE == 8
#define ITEMS fuse((0, 0), (1, 1))
#elif SCHEDULE == 9
#define ITEMS tile((8, 8), serial, wavefront)
#elif SCHEDULE == 90
#define ITEMS parallel
#elif SCHEDULE == 91
#define ITEMS tile((8, 8), parallel, serial)
#elif SCHEDULE == 92
#define ITEMS fuse((0, 0), (0, 0))
#elif SCHEDULE == 93
// What a sweep overwrites cannot be computed twice: it runs as it is written.
#define ITEMS fuse(), tile((8, 8), parallel, serial, overlap)
#endif

#define U(i, j) u[(i) * (n + 2L) + (j)]
#define SWEPT(i, j) ((U((i) - 1, j) + U((i) + 1, j) + U(i, (j) - 1) + U(i, (j) + 1)) * 0.25)

static void sweeps(double *u, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write u{(i, j)}, read u{(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)}
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        U(i, j) = SWEPT(i, j);
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write u{(i, j)}, read u{(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)}
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        U(i, j) = SWEPT(i, j);
  }
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 30), times = argument(argc, argv, 2, 2);
  long size = (n + 2L) * (n + 2L);
  double *u = doubles(size), *wanted = doubles(size);
  for (long at = 0; at < size; at++)
    u[at] = wanted[at] = noise(at);
  for (int t = 0; t < times; t++)
    sweeps(u, n);
  double *found = u;
  u = wanted;
  for (int t = 0; t < 2 * times; t++)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        U(i, j) = SWEPT(i, j);
  int right = same("u", found, wanted, size);
  print_doubles("u", found, size);
  puts(right ? "right" : "wrong");
  free(found), free(wanted);
  return !right;
}
