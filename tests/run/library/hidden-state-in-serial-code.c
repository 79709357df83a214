// rand, strtok, localtime, drand48 and friends in serial code between regions.
// threads: any
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void) {
  int a[50], sum = 0;
  srand(42);
  srand48(7);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 50; i++) a[i] = rand() % 100 + (int)(drand48() * 10);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 50; i++) sum += a[i] * i;
  }
  char text[] = "one,two;three", *word = strtok(text, ",;");
  while (word) {
    int length = 0;
#pragma omp parallel for reduction(+ : length)
    for (int i = 0; i < (int)strlen(word); i++) length += word[i] > 0;
    printf("%s %d\n", word, length);
    word = strtok(NULL, ",;");
  }
  time_t zero = 86400 * 365;
  char date[40];
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&zero));
  printf("%d %s\n", sum, date);
  return 0;
}
