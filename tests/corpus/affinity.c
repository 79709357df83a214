// Functions of omp.h, among them those that it gives other names, each alone too.
// RUN: %S/compile %plugin %s '-DALONE=omp_display_affinity(0)'
// RUN: %S/compile %plugin %s '-DALONE=omp_set_affinity_format("%n")'
// RUN: %S/compile %plugin %s '-DALONE=omp_get_affinity_format(0, 0)'
// RUN: %S/compile %plugin %s '-DALONE=omp_capture_affinity(0, 0, 0)'
// RUN: %S/compile %plugin %s
#include <omp.h>
#include <stdio.h>
int omp_of_the_program(int);
int main(void) {
  char text[100];
#ifdef ALONE
  (void)ALONE;
#else
  omp_set_affinity_format("%n %N");
  omp_display_affinity(0);
  size_t n = omp_get_affinity_format(text, sizeof text) + omp_capture_affinity(text, sizeof text, "%n");
#pragma omp parallel num_threads(2)
  {
    char own[20];
    size_t (*capture)(char *, size_t, char const *) = omp_capture_affinity;
    capture(own, sizeof own, "%n");
    omp_display_affinity(own);
    double (*time)(void) = omp_get_wtime;
#pragma omp critical
    n += omp_get_thread_num() + (time() < 0) + omp_of_the_program(3);
  }
  printf("%zu\n", n);
#endif
#pragma omp parallel for
  for (int i = 0; i < 10; i++)
    text[i] = (char)i;
  return text[0];
}
