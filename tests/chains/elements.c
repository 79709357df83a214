// variants: REVERSED
// schedules: 0 1 2 3 4 5 6 7
// refused: 90 91
// says 91: cannot run in parallel
//
// Elements that are several numbers: structs whose members are accessed by themselves, and copied as a whole; complex numbers;
// small arrays, some of whose numbers are accessed by themselves, and all of them in a loop, forwards or backwards; planes whose
// distance is known when the program runs, of as many components as is known then.
#include "chain.h"

#include <complex.h>

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse((0, 0), (1, 0), (1, 0), (2, 0), (2, 0))
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((4, 5), serial, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((4, 5), wavefront, serial)
#elif SCHEDULE == 6
#define ITEMS parallel
#elif SCHEDULE == 7
#define ITEMS fuse(), tile((tile, tile + 2), serial, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0), (0, 0), (0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), parallel
#endif

#ifdef REVERSED
#define COMPONENTS(c, count) for (int c = count - 1; c >= 0; c--)
#else
#define COMPONENTS(c, count) for (int c = 0; c < count; c++)
#endif

enum { N = 24 };

struct cell {
  double mass;
  double momentum[2];
  float energy;
};

#define PLANE(c, i, j) ((c) * (long)rows * width + (i) * (long)width + (j))

static void chain(struct cell now[N][N], struct cell was[N][N], double complex wave[N][N], double small[N][N][3], double *planes,
                  int rows, int width, int count, int tile) {
  (void)tile;
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : rows - 2, 1 : width - 2) with(i, j) write wave{(i, j)} read now{(i, j - 1), (i, j), (i - 1, j)}
    for (int i = 1; i < rows - 1; i++)
      for (int j = 1; j < width - 1; j++) {
        double real = now[i][j - 1].mass + now[i][j].momentum[0], imaginary = now[i - 1][j].energy - now[i][j].momentum[1];
        wave[i][j] = real + imaginary * I;
      }
#pragma omplc for domain(1 : rows - 3, 1 : width - 3) with(i, j) read wave{(i, j), (i + 1, j), (i, j + 1)} write small{(i, j)}
    for (int i = 1; i < rows - 2; i++)
      for (int j = 1; j < width - 2; j++) {
        small[i][j][0] = creal(wave[i][j]) * 0.5;
        small[i][j][2] = cimag(wave[i + 1][j]);
        small[i][j][1] = cimag(wave[i][j + 1]) - creal(wave[i][j]);
      }
    PRAGMA(omplc for domain(1 : rows - 3, 1 : width - 3) with(i, j) read small{(i, j)} write small{(i, j)})
    for (int i = 1; i < rows - 2; i++)
      for (int j = 1; j < width - 2; j++) {
        double scale = small[i][j][1];
        COMPONENTS(c, 3)
          small[i][j][c] *= 1 + scale;
      }
    PRAGMA(omplc for domain(2 : rows - 3, 2 : width - 3) with(i, j) read small{(i, j), (i - 1, j), (i, j - 1)} write planes{(i, j)})
    for (int i = 2; i < rows - 2; i++)
      for (int j = 2; j < width - 2; j++)
        COMPONENTS(c, count)
          planes[PLANE(c, i, j)] = small[i][j][2] * c + small[i - 1][j][0] - small[i][j - 1][1];
    PRAGMA(omplc for domain(2 : rows - 3, 2 : width - 3) with(i, j) read planes{(i, j)} read now{(i, j)} write now{(i, j)} read was{(i, j)} write was{(i, j)})
    for (int i = 2; i < rows - 2; i++)
      for (int j = 2; j < width - 2; j++) {
        was[i][j] = now[i][j];
        COMPONENTS(c, count)
          now[i][j].mass += planes[PLANE(c, i, j)] * 0.125;
        COMPONENTS(d, 2)
          now[i][j].momentum[d] -= was[i][j].mass * 0.25;
        now[i][j].energy = (float)(now[i][j].momentum[0] - now[i][j].momentum[1]);
      }
  }
}

int main(int argc, char **argv) {
  int rows = argument(argc, argv, 1, N), width = argument(argc, argv, 2, 19), count = argument(argc, argv, 3, 4);
  static struct cell now[N][N], was[N][N];
  static double complex wave[N][N];
  static double small[N][N][3];
  double *planes = doubles((long)count * rows * width);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      long at = i * N + j;
      now[i][j] = (struct cell){noise(at), {noise(at + 1000), noise(at + 2000)}, (float)noise(at + 3000)};
      wave[i][j] = noise(at + 4000);
    }
  for (long at = 0; at < (long)count * rows * width; at++)
    planes[at] = noise(at + 5000);
  for (int t = 0; t < 2; t++)
    chain(now, was, wave, small, planes, rows, width, count, argument(argc, argv, 4, 3));
  double numbers[N][N][8];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      struct cell *all[] = {&now[i][j], &was[i][j]};
      for (int which = 0; which < 2; which++) {
        numbers[i][j][4 * which] = all[which]->mass;
        numbers[i][j][4 * which + 1] = all[which]->momentum[0];
        numbers[i][j][4 * which + 2] = all[which]->momentum[1];
        numbers[i][j][4 * which + 3] = all[which]->energy;
      }
    }
  print_doubles("cells", &numbers[0][0][0], 8L * N * N);
  print_doubles("wave", (const double *)wave, 2L * N * N);
  print_doubles("small", &small[0][0][0], 3L * N * N);
  print_doubles("planes", planes, (long)count * rows * width);
  free(planes);
  return 0;
}
