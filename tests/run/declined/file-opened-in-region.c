// A file opened, written and closed inside each iteration.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls fopen
#include <stdio.h>

int main(void) {
  long total = 0;
#pragma omp parallel for
  for (int i = 0; i < 10; i++) {
    char name[32];
    snprintf(name, sizeof name, "part-%d.txt", i);
    FILE *file = fopen(name, "w");
    fprintf(file, "%d", i * 7);
    fclose(file);
  }
  for (int i = 0; i < 10; i++) {
    char name[32];
    int value;
    snprintf(name, sizeof name, "part-%d.txt", i);
    FILE *file = fopen(name, "r");
    if (fscanf(file, "%d", &value) == 1) total += value;
    fclose(file);
    remove(name);
  }
  printf("%ld\n", total);
  return 0;
}
