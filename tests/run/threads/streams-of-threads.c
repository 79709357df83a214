// Several threads of each rank write to a file, of which the last ones do so under a lock: every line is there, once.
// ranks: 2 3
// threads: any
// env: OMP_NUM_THREADS=4
#include <omp.h>
#include <stdio.h>

enum { LINES = 4000, WRITERS = 12 };

int main(void) {
  static unsigned char seen[WRITERS][LINES];
  FILE *file = tmpfile();
#pragma omp parallel for schedule(static, 1)
  for (int writer = 0; writer < WRITERS; writer++)
    for (int i = 0; i < LINES; i++) {
      if (omp_get_thread_num() >= 4) {
#pragma omp critical
        fprintf(file, "%d %d\n", writer, i);
      } else {
        fprintf(file, "%d %d\n", writer, i);
      }
    }
  rewind(file);
  int writer, line, lines = 0, twice = 0;
  while (fscanf(file, "%d %d", &writer, &line) == 2) {
    lines++;
    twice += seen[writer][line]++ > 0;
  }
  fclose(file);
  printf("%d lines, %d twice\n", lines, twice);
  return 0;
}
