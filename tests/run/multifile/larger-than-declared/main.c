// Variables that are larger than this file sees: a flexible array with initial values, and another name for the
// first element of an array. Serial code reads what ranks wrote to them.
// threads: any
#include <stdio.h>

enum { N = 100000 };
struct Series {
  long n;
  double values[];
};
extern struct Series series;
extern double first, all[N];

int main(void) {
  for (int k = 0; k < 3; k++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) series.values[i] = i + k;
    int last_is_right = series.values[N - 1] == N - 1 + k;
#pragma omp parallel for
    for (int i = 0; i < N; i++) all[N - 1 - i] = i + k;
    int first_is_right = first == N - 1 + k;
#pragma omp parallel for
    for (int i = 0; i < N; i++) series.values[i] += 2 * k;
    double sum = 0;
    for (int i = 0; i < N; i += 100) sum += series.values[i];
    printf("%d %d %.10g\n", last_is_right, first_is_right, sum);
  }
  return 0;
}
