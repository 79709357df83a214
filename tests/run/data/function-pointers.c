// Calls through pointers: in tables, in structs, captured, and returned by functions.
// threads: any
#include <stdio.h>

typedef double (*function)(double);
static double half(double x) { return x / 2; }
static double twice(double x) { return x * 2; }
static double minus(double x) { return -x; }
static function choose(int i) { return i % 2 ? half : minus; }

struct shape {
  double size;
  double (*area)(const struct shape *);
};
static double square(const struct shape *s) { return s->size * s->size; }
static double line(const struct shape *s) { return s->size + 1; }

int main(void) {
  static function table[3] = {half, twice, minus};
  struct shape shapes[30];
  double out[300];
  function current = twice;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 30; i++) {
      shapes[i].size = i;
      shapes[i].area = i % 3 ? square : line;
    }
#pragma omp for
    for (int i = 0; i < 300; i++)
      out[i] = table[i % 3](i) + choose(i)(current(i)) + shapes[i % 30].area(&shapes[i % 30]);
#pragma omp single
    current = half;
#pragma omp for
    for (int i = 0; i < 300; i++) out[i] += current(i);
  }
  double sum = 0;
  for (int i = 0; i < 300; i++) sum += out[i] * i;
  printf("%.2f\n", sum);
  return 0;
}
