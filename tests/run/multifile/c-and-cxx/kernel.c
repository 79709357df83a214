double cxx_square(double x);
int c_calls;
static double sum;

double c_kernel(double *values, int n) {
#pragma omp single
  {
    sum = 0;
    c_calls++;
  }
#pragma omp for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    sum += cxx_square(values[i]) / 1024;
    values[i] = (int)values[i] / 2;
  }
  double result = sum;
#pragma omp barrier
  return result;
}
