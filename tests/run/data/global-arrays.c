// Global arrays, initialised and not, with and without external linkage, of several types.
// threads: any
#include <stdio.h>

int table[300] = {5, 4, 3, 2, 1};
double zeroed[300];
static char text[64] = "shared text";
static const int constants[4] = {1, 10, 100, 1000};
static struct {
  long a;
  float b[3];
} records[50];
long scalar = 7, other;

int main(void) {
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (int i = 0; i < 300; i++) {
      table[i] += constants[i % 4] + (int)scalar;
      zeroed[i] += table[i] * 0.5;
    }
#pragma omp parallel for
    for (int i = 0; i < 50; i++) {
      records[i].a += table[i * 6];
      records[i].b[i % 3] += (float)zeroed[i];
    }
#pragma omp parallel for
    for (int i = 0; i < 11; i++) text[i] = (char)(text[i] == ' ' ? ' ' : 'a' + (text[i] + 1) % 26);
    scalar += table[7];
    other -= scalar;
  }
  double sum = 0;
  for (int i = 0; i < 300; i++) sum += zeroed[i] * (i % 13);
  for (int i = 0; i < 50; i++) sum += (double)records[i].a + records[i].b[i % 3];
  printf("%s %ld %ld %.1f\n", text, scalar, other, sum);
  return 0;
}
