static int scale = 10;
extern int counter;

static void fill(int *values, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) values[i] += scale;
}

long other(int *values, int n) {
  long sum = 0;
  fill(values, n);
  scale += 5;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += values[i];
#pragma omp parallel
  {
#pragma omp critical
    counter += 0;
#pragma omp single
    counter += 2;
  }
  return sum;
}
