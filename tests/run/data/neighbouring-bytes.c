// Neighbouring bytes, shorts and bit-sized items written by different threads in the same word.
// threads: any
#include <stdio.h>

int main(void) {
  static unsigned char bytes[1000];
  static unsigned short shorts[500];
  static struct {
    unsigned char a, b;
  } pairs[300];
  for (int round = 1; round < 6; round++) {
#pragma omp parallel
    {
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 1000; i++) bytes[i] += (unsigned char)(i * round);
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 500; i++) shorts[i] ^= (unsigned short)(i << round);
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 300; i++) pairs[i].a++;
#pragma omp for schedule(static, 2)
      for (int i = 299; i >= 0; i--) pairs[i].b += 2;
    }
    bytes[500]++;
    pairs[7].a = (unsigned char)(pairs[7].a + bytes[500]);
  }
  unsigned hash = 0;
  for (int i = 0; i < 1000; i++) hash = hash * 31 + bytes[i];
  for (int i = 0; i < 500; i++) hash = hash * 31 + shorts[i];
  for (int i = 0; i < 300; i++) hash = hash * 31 + pairs[i].a * 3u + pairs[i].b;
  printf("%u\n", hash);
  return 0;
}
