// String functions on shared strings: strcpy, strcat, strcmp, sprintf, strchr, strtol, in regions.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static char lines[50][40], joined[4000];
  const char *words[] = {"alpha", "beta", "gamma", "delta"};
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < 50; i++) {
    strcpy(lines[i], words[i % 4]);
    strcat(lines[i], "-");
    sprintf(lines[i] + strlen(lines[i]), "%d", i * 11);
    char *dash = strchr(lines[i], '-');
    total += strtol(dash + 1, NULL, 10) + strcmp(lines[i], "beta-11") * 0;
    if (strncmp(lines[i], "gamma", 5) == 0) lines[i][0] = 'G';
  }
  for (int i = 0; i < 50; i++) {
    strcat(joined, lines[i]);
    strcat(joined, " ");
  }
  printf("%ld %s\n", total, joined);
  return 0;
}
