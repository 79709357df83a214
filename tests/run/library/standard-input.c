// Standard input read in serial code, by several functions.
// threads: any
// stdin: 4 2.5 word\nsecond line\n10 20 30 40\n
#include <stdio.h>
#include <string.h>

int main(void) {
  int n, a[4], sum = 0;
  double d;
  char word[20], line[80];
  if (scanf("%d %lf %19s", &n, &d, word) != 3) return 1;
  getchar();
  if (!fgets(line, sizeof line, stdin)) return 2;
  for (int i = 0; i < n; i++)
    if (scanf("%d", &a[i]) != 1) return 3;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i] * (int)(d * 2) + (int)strlen(word) + line[i];
  printf("%d %s %s", sum, word, line);
  return 0;
}
