long fills;

void fill(double *a, int n, int by) {
#pragma omp atomic
  fills++;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += i * by;
}
