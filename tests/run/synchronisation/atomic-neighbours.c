// Atomic updates of neighbouring bytes, bit-packed structs' members and misaligned fields keep apart.
// threads: any
#include <stdio.h>

struct mixed {
  char a;
  short b;
  int c;
  char d[3];
  double e;
};

int main(void) {
  unsigned char bytes[16] = {0};
  struct mixed m[4] = {{0}};
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 160; i++) {
#pragma omp atomic
    bytes[i % 16] += 1 + i / 16;
    struct mixed *p = &m[i % 4];
#pragma omp atomic
    p->a++;
#pragma omp atomic
    p->b += 3;
#pragma omp atomic
    p->c -= i;
#pragma omp atomic
    p->d[i % 3] ^= 5;
#pragma omp atomic
    p->e += 0.5;
  }
  for (int i = 0; i < 16; i++) printf("%d ", bytes[i]);
  for (int i = 0; i < 4; i++)
    printf("\n%d %d %d %d %d %d %.1f", m[i].a, m[i].b, m[i].c, m[i].d[0], m[i].d[1], m[i].d[2],
           m[i].e);
  printf("\n");
  return 0;
}
