// What passes between ranks in one region is of very different lengths, and of other lengths in each interval: the memory of
// earlier messages serves for later ones. Short ones go along with what ranks tell each other, long ones by themselves.
// threads: any
#include <stdio.h>

// Of the middle one a little less than 16 KiB pass from one of two ranks to the other.
enum { small_size = 24, middle_size = 90, large_size = 400, steps = 9 };
static double small[small_size][small_size], middle[middle_size][middle_size], large[large_size][large_size];
static double sums[large_size];

#define ALONG_ROWS(array, factor)            \
  _Pragma("omp for")                         \
  for (int i = 0; i < array##_size; i++)     \
    for (int j = 1; j < array##_size; j++) array[i][j] += factor * array[i][j - 1];

#define ALONG_COLUMNS(array, factor)         \
  _Pragma("omp for")                         \
  for (int j = 0; j < array##_size; j++)     \
    for (int i = 1; i < array##_size; i++) array[i][j] += factor * array[i - 1][j];

static double sum(int count, const double *array) {
  double all = 0;
  for (int i = 0; i < count; i++) all += array[i] * (1 + i % 7);
  return all;
}

int main(void) {
  for (int i = 0; i < large_size; i++)
    for (int j = 0; j < large_size; j++) {
      large[i][j] = (i * 3 + j) % 11;
      if (i < middle_size && j < middle_size) middle[i][j] = (i + 5 * j) % 13;
      if (i < small_size && j < small_size) small[i][j] = i * j % 5;
    }
#pragma omp parallel
  for (int step = 0; step < steps; step++) {
    ALONG_ROWS(large, 0.25)
    ALONG_ROWS(small, 0.5)
    ALONG_COLUMNS(small, 0.125)
    ALONG_ROWS(middle, 0.25)
    ALONG_COLUMNS(large, 0.125)
    ALONG_COLUMNS(middle, 0.5)
    ALONG_ROWS(small, 0.125)
    // Half of the large one by rows again.
#pragma omp for
    for (int i = 0; i < large_size; i++) {
      sums[i] = 0;
      for (int j = 0; j < large_size / 2; j++) sums[i] += large[i][j];
    }
    ALONG_COLUMNS(small, 0.0625)
  }
  double rows = 0;
  for (int i = 0; i < large_size; i++) rows += sums[i] * (i % 3);
  printf("%.15g\n", sum(small_size * small_size, &small[0][0]));
  printf("%.15g\n", sum(middle_size * middle_size, &middle[0][0]));
  printf("%.15g\n", sum(large_size * large_size, &large[0][0]));
  printf("%.15g\n", rows);
  return 0;
}
