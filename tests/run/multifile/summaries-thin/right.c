enum { N = 2000 };
double right[N];
extern double left[N];

__attribute__((noinline)) static double helper(double x, int i) {
  right[i] += x;
  return x - 1;
}

double from_right(double x, int i) { return helper(x * 0.5, i); }

double weighed(double x) {
  left[(int)x] += 0.5;
  return x * 0.25;
}
