double evaluate(const double *c, int n, double x) {
  double value = 0;
  for (int i = n - 1; i >= 0; i--) value = value * x + c[i];
  return value;
}

void for_each(int *from, int n, int (*f)(int)) {
  for (int i = 0; i < n; i++) from[i] = f(from[i]);
}

int sum_of(const int *from, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += from[i];
  return sum;
}
