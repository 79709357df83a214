// The kinds of inline functions: of C99, of GNU C and of the compiler's own choice.
// RUN: %S/compile %plugin %s
inline double plain(double x) { return x + 1; }
extern inline double defined_here(double x) { return x * 2; }
inline double also_external(double x) { return x * 3; }
extern double also_external(double);
static inline double local(double x) { return x * 4; }
__attribute__((gnu_inline)) extern inline double gnu(double x) { return x * 5; }
__attribute__((always_inline)) static inline double always(double x) { return x * 6; }
__attribute__((noinline)) static double never(double x) { return x * 7; }

inline void with_region(double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = plain(a[i]);
}

inline void with_loop(double *a, int n) {
#pragma omp for
  for (int i = 0; i < n; i++)
    a[i] = plain(a[i]);
}

double (*taken)(double) = plain;
double gnu(double x) { return x * 5; }

int main(void) {
  double a[64] = {0}, s = 0;
  with_region(a, 64);
#pragma omp parallel reduction(+ : s)
  {
    with_loop(a, 64);
#pragma omp for
    for (int i = 0; i < 64; i++)
      s += plain(a[i]) + defined_here(a[i]) + also_external(a[i]) + local(a[i]) + gnu(a[i]) + always(a[i]) +
           never(a[i]) + taken(a[i]);
  }
  return s > 0 ? 0 : 1;
}
