enum { N = 2000 };
extern double written[N];
double __real_measure(double x, int i);
static double last;

double measure(double x, int i) { return x * 0.5 + i; }

double __wrap_measure(double x, int i) {
  written[i] += x;
  return __real_measure(x, i);
}

double plain(double x) { return last = x; }

void set(double *value, double to) { *value = to; }
