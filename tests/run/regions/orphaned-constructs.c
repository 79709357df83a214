// Worksharing and synchronisation in functions that are called from regions and from serial code.
#include <stdio.h>

static int data[200];
static int singles, masters;

static void fill(int offset) {
#pragma omp for
  for (int i = 0; i < 200; i++) data[i] = i + offset;
}

static void once(void) {
#pragma omp single
  singles++;
#pragma omp master
  masters++;
#pragma omp barrier
}

static long total(void) {
  static long sum;
#pragma omp single
  sum = 0;
#pragma omp for reduction(+ : sum)
  for (int i = 0; i < 200; i++) sum += data[i];
  long result = sum;
#pragma omp barrier
  return result;
}

int main(void) {
  fill(1);
  once();
  printf("%ld\n", total());
  int wrong = 0;
  for (int k = 0; k < 3; k++) {
#pragma omp parallel reduction(+ : wrong)
    {
      fill(k * 10);
      once();
      if (total() != 19900 + 2000 * k) wrong++;
    }
  }
  printf("%ld wrong %d singles %d masters %d\n", total(), wrong, singles, masters);
  return 0;
}
