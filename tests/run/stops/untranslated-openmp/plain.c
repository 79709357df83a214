int plain_sum(const int *values, int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += values[i];
  return sum;
}
