// The reentrant forms of the same functions need no team of one.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  int a[40], team = 0;
  unsigned words = 0;
#pragma omp parallel for reduction(+ : words)
  for (int i = 0; i < 40; i++) {
    unsigned seed = (unsigned)i + 1;
    char text[32], *rest = text;
    a[i] = rand_r(&seed) % 1000;
    snprintf(text, sizeof text, "%d %d", i, a[i]);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words++;
    if (omp_get_thread_num() == 0) team = omp_get_num_threads();
  }
  long sum = 0;
  for (int i = 0; i < 40; i++) sum += a[i] * (long)i;
  printf("%ld %u %d\n", sum, words, team);
  return 0;
}
