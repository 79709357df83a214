// Threads write single bytes all over an array whose sections are known elsewhere: too many pieces to tell
// each other about.
// threads: any
#include <stdio.h>

enum { n = 1 << 17 };
static unsigned char text[n], copy[n];
static int place[n];

int main(void) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    place[i] = 0;
    for (int bit = 0; bit < 17; bit++)
      if (i >> bit & 1) place[i] |= 1 << (16 - bit);
  }
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) text[i] = i * 7 + step;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      if (i % 5 != step % 5) text[place[i]] = i % 251;
#pragma omp parallel for
    for (int i = 0; i < n; i++) copy[i] = text[n - 1 - i] + copy[i];
    for (int i = 0; i < n; i += 3) sum = (sum * 31 + copy[i] + text[i]) % 1000003;
  }
  printf("%ld\n", sum);
  return 0;
}
