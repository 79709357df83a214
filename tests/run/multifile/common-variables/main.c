// Tentative definitions in several files (-fcommon) are one variable.
// threads: any
// flags: -fcommon
#include <stdio.h>

int shared_counter;
double shared_array[400];
void fill(void);

int main(void) {
  fill();
#pragma omp parallel for
  for (int i = 0; i < 400; i++) shared_array[i] += shared_counter;
  shared_counter++;
  fill();
  double sum = 0;
  for (int i = 0; i < 400; i++) sum += shared_array[i];
  printf("%d %.0f\n", shared_counter, sum);
  return 0;
}
