// Structures: by value, of bit-fields, in unions, reduced by the program's own operator.
// RUN: %S/compile %plugin %s
#include <stdio.h>
struct big {
  double a[12];
};
struct mixed {
  char c;
  float f;
  union {
    int i;
    double d;
    struct {
      unsigned x : 3, y : 29, : 0;
      signed long z : 40;
    };
  };
} list[50];
struct node {
  struct node *next;
  int value;
};
typedef struct {
  float x, y;
} point;
static struct big big(double x) { return (struct big){{x, [5] = x * 2}}; }
static point swap(point p) { return (point){.y = p.x, .x = p.y}; }
static struct mixed change(struct mixed m, struct big b, point p, int n) {
  m.f += b.a[5] + p.x;
  m.y = n;
  m.z -= n;
  return m;
}
#pragma omp declare reduction(join : point : omp_out.x += omp_in.x, omp_out.y += omp_in.y) \
    initializer(omp_priv = (point){0, 0})
static const struct node last = {0, 3}, first = {(struct node *)&last, 2};
static struct node *roots[] = {(struct node *)&first, (struct node *)&last, 0};

int main(void) {
  point sum = {0, 0};
  struct big captured = big(3);
#pragma omp parallel for firstprivate(captured) reduction(join : sum)
  for (int i = 0; i < 50; i++) {
    list[i] = change(list[i], captured, swap((point){i, 2}), i);
    sum = (point){sum.x + list[i].f, sum.y + list[i].y};
    for (struct node *n = roots[i % 3]; n; n = n->next)
      sum.x += n->value;
    captured = big(i);
  }
  printf("%g %g\n", sum.x, sum.y);
  return 0;
}
