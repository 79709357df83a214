// Files written and read in serial code, with arrays that regions write and read.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { n = 9000 };
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  static int text[300];
  char line[100];
#pragma omp parallel for schedule(static, 50)
  for (int i = 0; i < n; i++) a[i] = i * 0.5;
  FILE *file = fopen("data.bin", "wb");
  if (fwrite(a, sizeof *a, n, file) != n) return 1;
  fclose(file);
#pragma omp parallel for
  for (int i = 0; i < n; i++) b[i] = -1;
  file = fopen("data.bin", "rb");
  fseek(file, 100 * sizeof *b, SEEK_SET);
  if (fread(b, sizeof *b, n - 100, file) != n - 100) return 2;
  printf("%ld\n", ftell(file));
  fclose(file);
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i] * 2 + b[i];
  printf("%.1f\n", sum);

  file = fopen("data.txt", "w+");
  for (int i = 0; i < 300; i++) fprintf(file, "%d %.2f name%d\n", i, a[i], i);
  rewind(file);
  int matched = 0;
  for (int i = 0; i < 150; i++) {
    double value;
    char name[16];
    matched += fscanf(file, "%d %lf %15s", &text[i], &value, name);
    matched += (int)value % 2 + (name[4] == '1');
  }
  fgets(line, sizeof line, file);
  for (int i = 150; i < 300 && fgets(line, sizeof line, file); i++) text[i] = atoi(line);
  printf("%d %d %s", matched, feof(file) ? 1 : 0, line);
  fclose(file);
  long check = 0;
#pragma omp parallel for reduction(+ : check)
  for (int i = 0; i < 300; i++) check += (long)text[i] * i;
  printf("%ld %d\n", check, remove("data.txt") + remove("data.bin"));
  free(a);
  free(b);
  return 0;
}
