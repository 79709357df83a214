// schedule(static) gives each thread the iterations libomp gives it.
#include <omp.h>
#include <stdio.h>

static void show(const char *what, const int *owner, int n) {
  printf("%s:", what);
  for (int i = 0; i < n; i++) printf(" %d", owner[i]);
  printf("\n");
}

int main(void) {
  int owner[40];
  for (int n = 0; n <= 13; n++) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) owner[i] = omp_get_thread_num();
    show("up", owner, n);
  }
#pragma omp parallel for
  for (int i = 39; i >= 0; i -= 3) owner[i / 3] = omp_get_thread_num();
  show("down", owner, 14);
#pragma omp parallel for
  for (unsigned long i = 7; i < 40; i += 2) owner[(i - 7) / 2] = omp_get_thread_num();
  show("long", owner, 17);
  return 0;
}
