// The threads of a region compute with the rounding mode of the thread that meets it.
// flags: -frounding-math
#include <fenv.h>
#include <stdio.h>

volatile double one = 1, three = 3;

static int distinct(const double *a, int n) {
  int different = 0;
  for (int i = 1; i < n; i++) different += a[i] != a[0];
  return different;
}

int main(void) {
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TONEAREST};
  double a[64];
  long double b[64];
  for (int m = 0; m < 4; m++) {
    fesetround(modes[m]);
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
      a[i] = one / three;
      b[i] = (long double)one / three;
    }
    fesetround(FE_TONEAREST);
    int wide = 0;
    for (int i = 1; i < 64; i++) wide += b[i] != b[0];
    printf("%.20f %d %d\n", a[0], distinct(a, 64), wide);
  }
  return 0;
}
