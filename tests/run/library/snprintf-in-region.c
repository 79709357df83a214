// Formatting numbers into shared and private buffers in a region, and parsing them back.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static char text[100][24];
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) snprintf(text[i], sizeof text[i], "%d:%.3f", i, i / 8.0);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    char copy[24];
    int number;
    double value;
    snprintf(copy, sizeof copy, "%s", text[99 - i]);
    if (sscanf(copy, "%d:%lf", &number, &value) == 2) sum += number * value + atof("0.5");
  }
  printf("%.3f\n", sum);
  return 0;
}
