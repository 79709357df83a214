// localtime and its static buffer in a region.
// threads: any
// env: TZ=UTC
// warns: parallel region runs on rank 0 alone: it calls gmtime, which keeps state in the C library
#include <stdio.h>
#include <time.h>

int main(void) {
  int days[40], sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 40; i++) {
    time_t t = i * 86400L * 45;
#pragma omp critical
    days[i] = gmtime(&t)->tm_yday;
  }
  for (int i = 0; i < 40; i++) sum += days[i] * i;
  printf("%d\n", sum);
  return 0;
}
