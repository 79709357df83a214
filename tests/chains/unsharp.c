// schedules: 0 1 2 3 4 5 6 7 8
// refused: 90 91
//
// A picture is blurred along rows and along columns, what that takes away is added to it, and where that is little it stays as it
// is: four loops in single precision, three of whose results are temporary. Colours are the innermost loop, of which chains
// know nothing.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
// Rows alone: no column waits for another.
#define ITEMS fuse((0, 0), (2, 0), (2, 0), (2, 0))
#elif SCHEDULE == 4
#define ITEMS fuse(), tile((16, 16), serial, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((16, 16), parallel, serial, overlap)
#elif SCHEDULE == 6
#define ITEMS parallel
#elif SCHEDULE == 7
#define ITEMS fuse(), tile((16, 16), wavefront, serial)
#elif SCHEDULE == 8
#define ITEMS tile((8, 64), parallel, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0), (0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), tile((16, 16), parallel, serial)
#endif

enum { COLOURS = 3 };
static const float middle = 6 / 16.0f, next = 4 / 16.0f, last = 1 / 16.0f, weight = 1.5f, threshold = 0.03f;

#define AT(data, y, x) data[((y) * (long)width + (x)) * COLOURS + c]

static void unsharp(const float *picture, float *across, float *blurred, float *sharp, float *result, int height, int width) {
  PRAGMA(omplc loopchain schedule(ITEMS) local(across, blurred, sharp))
  {
#pragma omplc for domain(0 : height - 1, 2 : width - 3) with(y, x) write across{(y, x)}, \
    read picture{(y, x - 2), (y, x - 1), (y, x), (y, x + 1), (y, x + 2)}
#pragma omp parallel for
    for (int y = 0; y < height; y++)
      for (int x = 2; x < width - 2; x++)
        for (int c = 0; c < COLOURS; c++)
          AT(across, y, x) = middle * AT(picture, y, x) + next * (AT(picture, y, x - 1) + AT(picture, y, x + 1)) +
                             last * (AT(picture, y, x - 2) + AT(picture, y, x + 2));
#pragma omplc for domain(2 : height - 3, 2 : width - 3) with(y, x) write blurred{(y, x)}, \
    read across{(y - 2, x), (y - 1, x), (y, x), (y + 1, x), (y + 2, x)}
#pragma omp parallel for
    for (int y = 2; y < height - 2; y++)
      for (int x = 2; x < width - 2; x++)
        for (int c = 0; c < COLOURS; c++)
          AT(blurred, y, x) = middle * AT(across, y, x) + next * (AT(across, y - 1, x) + AT(across, y + 1, x)) +
                              last * (AT(across, y - 2, x) + AT(across, y + 2, x));
#pragma omplc for domain(2 : height - 3, 2 : width - 3) with(y, x) write sharp{(y, x)}, read blurred{(y, x)}, read picture{(y, x)}
#pragma omp parallel for
    for (int y = 2; y < height - 2; y++)
      for (int x = 2; x < width - 2; x++)
        for (int c = 0; c < COLOURS; c++)
          AT(sharp, y, x) = (1 + weight) * AT(picture, y, x) - weight * AT(blurred, y, x);
#pragma omplc for domain(2 : height - 3, 2 : width - 3) with(y, x) write result{(y, x)}, read sharp{(y, x)}, \
    read blurred{(y, x)}, read picture{(y, x)}
#pragma omp parallel for
    for (int y = 2; y < height - 2; y++)
      for (int x = 2; x < width - 2; x++)
        for (int c = 0; c < COLOURS; c++) {
          float change = AT(picture, y, x) - AT(blurred, y, x);
          AT(result, y, x) = change < threshold && change > -threshold ? AT(picture, y, x) : AT(sharp, y, x);
        }
  }
}

static float across_at(const float *picture, int width, int y, int x, int c) {
  return middle * AT(picture, y, x) + next * (AT(picture, y, x - 1) + AT(picture, y, x + 1)) +
         last * (AT(picture, y, x - 2) + AT(picture, y, x + 2));
}

static float wanted_at(const float *picture, int width, int y, int x, int c) {
  float row[5];
  for (int k = 0; k < 5; k++)
    row[k] = across_at(picture, width, y + k - 2, x, c);
  float blurred = middle * row[2] + next * (row[1] + row[3]) + last * (row[0] + row[4]);
  float sharp = (1 + weight) * AT(picture, y, x) - weight * blurred;
  float change = AT(picture, y, x) - blurred;
  return change < threshold && change > -threshold ? AT(picture, y, x) : sharp;
}

static float *floats(long count) {
  float *data = (float *)calloc((size_t)count, sizeof *data);
  if (!data)
    exit(1);
  return data;
}

int main(int argc, char **argv) {
  int height = argument(argc, argv, 1, 45), width = argument(argc, argv, 2, 70);
  long size = (long)height * width * COLOURS;
  float *picture = floats(size), *across = floats(size), *blurred = floats(size), *sharp = floats(size);
  float *result = floats(size), *wanted = floats(size);
  for (long at = 0; at < size; at++)
    picture[at] = (float)(0.3 + 0.1 * noise(at) + 0.4 * ((at / 30) % 2));
  unsharp(picture, across, blurred, sharp, result, height, width);
  for (int y = 2; y < height - 2; y++)
    for (int x = 2; x < width - 2; x++)
      for (int c = 0; c < COLOURS; c++)
        AT(wanted, y, x) = wanted_at(picture, width, y, x, c);
  int right = same_floats("result", result, wanted, size);
  print_floats("result", result, size);
  puts(right ? "right" : "wrong");
  free(picture), free(across), free(blurred), free(sharp), free(result), free(wanted);
  return !right;
}
