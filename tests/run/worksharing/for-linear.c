// linear variables start at their own value in each thread's share and end after the last iteration.
// threads: any
#include <stdio.h>

int main(void) {
  int a[97], position = 3;
  long byte = 100;
#pragma omp parallel for linear(position : 2) linear(byte)
  for (int i = 0; i < 97; i++) {
    a[i] = position + (int)byte;
    position += 2;
    byte++;
  }
  int good = 0;
  for (int i = 0; i < 97; i++) good += a[i] == 103 + 3 * i;
  printf("%d %d %ld\n", good, position, byte);
  return 0;
}
