// Definitions and calls without prototypes.
// RUN: %S/compile %plugin %s -std=gnu89
extern int printf();
double total;

sum(a, n)
double *a;
int n;
{
  register i;
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (i = 0; i < n; i++)
    s += a[i];
  total = s;
  return (int)s;
}

static apply(f, x)
int (*f)();
char x;
{
  return f(x, 2.0f);
}

static twice(x, y)
char x;
float y;
{
  return x * y;
}

main() {
  double a[100];
  int i;
#pragma omp parallel for
  for (i = 0; i < 100; i++) {
    a[i] = i % 3;
    if (i == 7)
      undeclared_here(i, a);
  }
  printf("%d %d %g\n", sum(a, 100), apply(twice, 'a'), total);
  return 0;
}

undeclared_here(i, a)
double *a;
{
  a[i] += 1;
}
