// schedule(static, chunk) deals out chunks in the order of the thread numbers.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int owner[50];
  for (int chunk = 1; chunk < 60; chunk = chunk * 2 + 1) {
#pragma omp parallel for schedule(static, chunk)
    for (int i = 0; i < 50; i++) owner[i] = omp_get_thread_num();
    printf("chunk %d:", chunk);
    for (int i = 0; i < 50; i++) printf(" %d", owner[i]);
    printf("\n");
  }
  return 0;
}
