#include "functions.h"

double changed_by[N];

double shape(double x, int i) {
  changed_by[i] += x;
  return x * 0.5;
}

double odd(int n) { return n == 0 ? 0 : even(n - 1); }
