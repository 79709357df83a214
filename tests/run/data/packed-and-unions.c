// Unions, packed structs with misaligned fields, bit-fields of separate structs, flexible arrays.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union value {
  int i;
  float f;
  unsigned char bytes[8];
};
struct __attribute__((packed)) odd {
  char tag;
  long number;
  short half;
};
struct bits {
  unsigned a : 3, b : 7, c : 22;
};
struct flexible {
  int n;
  double data[];
};

int main(void) {
  static union value values[200];
  static struct odd odd[333];
  struct bits bits[100];
  memset(bits, 0, sizeof bits);
  struct flexible *flexible = malloc(sizeof *flexible + 150 * sizeof(double));
  flexible->n = 150;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 200; i++) {
      if (i % 2)
        values[i].i = i * 1000;
      else
        values[i].f = i * 0.5f;
      values[i].bytes[6] = (unsigned char)i;
    }
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 333; i++) {
      odd[i].tag = (char)(i % 100);
      odd[i].number = i * 1000000007L;
      odd[i].half -= (short)i;
    }
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 100; i++) {
      bits[i].a = (unsigned)i;
      bits[i].b = (unsigned)(i * 3);
      bits[i].c = (unsigned)(i * i);
    }
#pragma omp for
    for (int i = 0; i < flexible->n; i++) flexible->data[i] = i / 4.0;
  }
  unsigned long hash = 0;
  for (int i = 0; i < 200; i++) hash = hash * 31 + (unsigned)values[i].i + values[i].bytes[6];
  for (int i = 0; i < 333; i++)
    hash = hash * 31 + (unsigned long)odd[i].number + (unsigned)(odd[i].tag + odd[i].half);
  for (int i = 0; i < 100; i++) hash = hash * 31 + bits[i].a + bits[i].b + bits[i].c;
  for (int i = 0; i < 150; i++) hash = hash * 31 + (unsigned long)(flexible->data[i] * 4);
  printf("%lx\n", hash);
  free(flexible);
  return 0;
}
