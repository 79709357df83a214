// Memory allocated by the threads of a region, used by others, freed in serial code.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { n = 60 };
  char *names[n];
  int *rows[n];
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) {
      char text[32];
      snprintf(text, sizeof text, "row %d", i);
      names[i] = strdup(text);
      rows[i] = malloc((100 + i * 50) * sizeof(int));
      for (int k = 0; k < 100 + i * 50; k++) rows[i][k] = i + k;
    }
#pragma omp for
    for (int i = 0; i < n; i++) rows[n - 1 - i][5] += (int)strlen(names[i]);
  }
  long sum = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 100 + i * 50; k++) sum += rows[i][k];
    sum += names[i][4];
    free(rows[i]);
    free(names[i]);
  }
  printf("%ld\n", sum);
  return 0;
}
