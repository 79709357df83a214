// num_threads and omp_set_num_threads may ask for fewer threads; the other ranks must not run the body.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int data[100], too_many = 0;
  for (int want = 1; want <= 4; want++) {
#pragma omp parallel num_threads(want) shared(data)
    {
      if (omp_get_num_threads() > want) {
#pragma omp atomic
        too_many++;
      }
#pragma omp for
      for (int i = 0; i < 100; i++) data[i] = i * want;
    }
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += data[i];
    printf("%d: %d\n", want, sum);
  }
  for (int want = 4; want >= 1; want--) {
    omp_set_num_threads(want);
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      if (omp_get_num_threads() > want) too_many = 1;
#pragma omp for
      for (int i = 0; i < 100; i++) sum += data[i];
    }
    printf("%d: %d\n", want, sum);
  }
  printf("too many: %d\n", too_many);
  return 0;
}
