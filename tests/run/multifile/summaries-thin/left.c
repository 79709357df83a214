enum { N = 2000 };
double left[N];

// Another file has one, too.
__attribute__((noinline)) static double helper(double x) { return x + 1; }

double from_left(double x, int i) { return helper(x * 0.5) + (i & 1); }

__attribute__((weak)) double weighed(double x) { return x * 0.125; }
