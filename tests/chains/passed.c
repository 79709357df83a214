// variants: REVERSED
// schedules: 0 1 2
//
// What loops pass on from one to the next in one iteration of inner loops that become one: all components of an element, or some
// of them, to loops that need it there, in other rows and beside it; one is read where only others have been written there.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse((0), (0), (1), (0), (0), (1), (1), (1))
#endif

#ifdef REVERSED
#define COMPONENTS(c) for (int c = 2; c >= 0; c--)
#else
#define COMPONENTS(c) for (int c = 0; c < 3; c++)
#endif

#define PLANE(c, i, j) (((c) * (rows + 2L) + (i)) * (width + 2L) + (j))
#define ROWS(FIRST, SECOND)                        \
  for (int i = 1; i <= rows + FIRST; i++)          \
    for (int j = 1; j <= width + SECOND; j++)

static void chain(const double *restrict in, double *restrict t, double *restrict u, double *restrict v, double *restrict out,
                  int rows, int width) {
  PRAGMA(omplc loopchain schedule(ITEMS) local(t, u, v))
  {
    PRAGMA(omplc for domain(1 : rows + 1, 1 : width) with(i, j) read in{(i, j)} write t{(i, j)})
    ROWS(1, 0) COMPONENTS(c) t[PLANE(c, i, j)] = in[PLANE(c, i, j)] * 0.5;
    PRAGMA(omplc for domain(1 : rows + 1, 1 : width) with(i, j) read t{(i, j)} write t{(i, j)})
    ROWS(1, 0) {
      double scale = t[PLANE(1, i, j)];
      COMPONENTS(c) t[PLANE(c, i, j)] *= 1 + scale;
    }
    PRAGMA(omplc for domain(1 : rows, 1 : width) with(i, j) read t{(i, j), (i + 1, j)} write out{(i, j)} read out{(i, j)})
    ROWS(0, 0) COMPONENTS(c) out[PLANE(c, i, j)] += t[PLANE(c, i, j)] - t[PLANE(c, i + 1, j)];
    PRAGMA(omplc for domain(1 : rows + 1, 1 : width + 1) with(i, j) read in{(i, j)} write u{(i, j)})
    ROWS(1, 1) {
      u[PLANE(0, i, j)] = in[PLANE(2, i, j)];
      u[PLANE(2, i, j)] = in[PLANE(1, i, j)] * 3;
    }
    PRAGMA(omplc for domain(1 : rows + 1, 1 : width + 1) with(i, j) read u{(i, j)} read in{(i, j)} write u{(i, j)})
    ROWS(1, 1) u[PLANE(1, i, j)] = u[PLANE(0, i, j)] * u[PLANE(2, i, j)] + in[PLANE(0, i, j)];
    PRAGMA(omplc for domain(1 : rows, 1 : width) with(i, j) read u{(i, j), (i, j + 1), (i + 1, j)} write v{(i, j)})
    ROWS(0, 0) COMPONENTS(c) v[PLANE(c, i, j)] = u[PLANE(c, i, j)] * u[PLANE(c, i, j + 1)] - u[PLANE(2 - c, i + 1, j)];
    PRAGMA(omplc for domain(1 : rows, 1 : width) with(i, j) read v{(i, j)} read out{(i, j)} write out{(i, j)})
    ROWS(0, 0) COMPONENTS(c) out[PLANE(c, i, j)] = out[PLANE(2 - c, i, j)] + v[PLANE(c, i, j)];
    PRAGMA(omplc for domain(1 : rows, 1 : width) with(i, j) read v{(i, j)} read out{(i, j)} write out{(i, j)})
    ROWS(0, 0) COMPONENTS(c) out[PLANE(c, i, j)] -= v[PLANE(2 - c, i, j)];
  }
}

int main(int argc, char **argv) {
  int rows = argument(argc, argv, 1, 21), width = argument(argc, argv, 2, 23);
  long count = 3L * (rows + 2) * (width + 2);
  double *all[5];
  for (int which = 0; which < 5; which++) {
    all[which] = doubles(count);
    for (long at = 0; at < count; at++)
      all[which][at] = noise(at + 10000 * which);
  }
  for (int t = 0; t < 2; t++)
    chain(all[0], all[1], all[2], all[3], all[4], rows, width);
  print_doubles("out", all[4], count);
  for (int which = 0; which < 5; which++)
    free(all[which]);
  return 0;
}
