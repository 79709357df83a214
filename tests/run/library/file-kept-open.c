// A file opened before and closed after many regions, written between them.
// threads: any
#include <stdio.h>

int main(void) {
  int values[64];
  FILE *log = fopen("log.txt", "w");
  for (int round = 0; round < 50; round++) {
#pragma omp parallel for
    for (int i = 0; i < 64; i++) values[i] = i * round;
    fprintf(log, "%d: %d %d\n", round, values[0], values[63]);
  }
  fclose(log);
  char line[80];
  long sum = 0;
  log = fopen("log.txt", "r");
  while (fgets(line, sizeof line, log)) {
    int round, first, last;
    if (sscanf(line, "%d: %d %d", &round, &first, &last) == 3) sum += (long)round * last;
  }
  fclose(log);
  printf("%ld\n", sum);
  return 0;
}
