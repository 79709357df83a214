// A FILE opened in serial code and written in a region.
// threads: any
// warns: parallel region runs as a team of one: it calls fprintf on a file that is open in one process only
#include <stdio.h>

int main(void) {
  FILE *file = fopen("out.txt", "w+");
  int lines = 0, number, sum = 0;
#pragma omp parallel for ordered
  for (int i = 0; i < 50; i++) {
#pragma omp ordered
    fprintf(file, "%d\n", i * i);
  }
  rewind(file);
  while (fscanf(file, "%d", &number) == 1) {
    lines++;
    sum += number;
  }
  fclose(file);
  printf("%d %d\n", lines, sum);
  return 0;
}
