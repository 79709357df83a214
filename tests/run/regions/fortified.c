// The checked variants of library functions that _FORTIFY_SOURCE calls.
// opt: -O2
// flags: -D_FORTIFY_SOURCE=2 -fstack-protector-all
// threads: any
// compare: sorted
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  (void)argv;
  char text[40][20], joined[1000] = "";
  size_t size = (size_t)argc * 19;
#pragma omp parallel for
  for (int i = 0; i < 40; i++) {
    char local[20];
    memset(local, 0, size);
    snprintf(local, size, "item %d", i * i);
    memcpy(text[i], local, size);
    strcat(text[i], ",");
    printf("printed %s\n", text[i]);
  }
  for (int i = 0; i < 40; i++) strncat(joined, text[i], 3);
  puts(joined);
  return 0;
}
