// Look-ups by random index in a table that serial code filled.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 18, m = argc > 2 ? atoi(argv[2]) : n / 4;
  double *table = malloc(n * sizeof *table);
  for (int i = 0; i < n; i++)
    table[i] = i * 0.5;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < m; i++) {
    unsigned long seed = (i + 1) * 6364136223846793005ul;
    for (int k = 0; k < 4; k++) {
      seed = seed * 6364136223846793005ul + 1442695040888963407ul;
      sum += table[(seed >> 33) % n];
    }
  }
  printf("%.1f\n", sum);
}
