// A lattice gas: particles stream to neighbours and collide, on bytes, with two arrays.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 80 };

int main(void) {
  unsigned char(*from)[n] = malloc(n * n), (*to)[n] = malloc(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) from[i][j] = (unsigned char)((i * 13 + j * 7) % 16);
#pragma omp parallel firstprivate(from, to)
  for (int t = 0; t < 25; t++) {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int cell = (from[i][(j + n - 1) % n] & 1) | (from[i][(j + 1) % n] & 2) |
                   (from[(i + n - 1) % n][j] & 4) | (from[(i + 1) % n][j] & 8);
        to[i][j] = (unsigned char)(cell == 3 ? 12 : cell == 12 ? 3 : cell);
      }
    // Every thread swaps its own copies of the pointers.
    void *swap = from;
    from = to;
    to = swap;
  }
  // After an odd number of steps the result is in the second array.
  long particles = 0, hash = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      for (int b = to[i][j]; b; b &= b - 1) particles++;
      hash = (hash * 31 + to[i][j]) % 1000000007;
    }
  printf("%ld %ld\n", particles, hash);
  free(from);
  free(to);
  return 0;
}
