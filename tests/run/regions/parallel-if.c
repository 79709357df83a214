// A false if clause gives a team of one, also for one fork site that is sometimes parallel.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int sizes[6], levels[6];
  for (int n = 0; n < 6; n++) {
#pragma omp parallel if (n % 2 == 0)
    {
#pragma omp single
      {
        sizes[n] = omp_get_num_threads();
        levels[n] = omp_get_level() * 10 + omp_in_parallel();
      }
    }
  }
  for (int n = 0; n < 6; n++) printf("%d: size %d level %d\n", n, sizes[n], levels[n]);
  int sum = 0;
#pragma omp parallel for if (parallel : sizes[0] > 100) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d\n", sum);
  return 0;
}
