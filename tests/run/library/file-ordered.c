// A FILE opened in serial code and written in a region, in the order of the iterations.
#include <omp.h>
#include <stdio.h>

int main(void) {
  FILE *file = fopen("out.txt", "w+");
  int last = -1, disorder = 0, lines = 0, threads = 0, number, sum = 0;
#pragma omp parallel for ordered
  for (int i = 0; i < 50; i++) {
#pragma omp ordered
    {
      threads = omp_get_num_threads();
      fprintf(file, "%d\n", i * i);
    }
  }
  rewind(file);
  while (fscanf(file, "%d", &number) == 1) {
    lines++;
    disorder += number <= last;
    last = number;
    sum += number;
  }
  fclose(file);
  printf("%d %d %d %d\n", threads, lines, sum, disorder);
  return 0;
}
