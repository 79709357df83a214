// setvbuf, fflush and writes to descriptor 1 in serial code.
// threads: any
#include <stdio.h>
#include <unistd.h>

int main(void) {
  static char buffer[256];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  int sum = 0;
  printf("buffered ");
  fflush(stdout);
  if (write(1, "direct\n", 7) != 7) return 1;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("%d\n", sum);
  fflush(stdout);
  if (write(STDOUT_FILENO, "end\n", 4) != 4) return 1;
  return 0;
}
