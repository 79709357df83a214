extern int n, m[4000];

double y1(double x) {
#pragma omp critical(k)
  {
    m[n]++;
    n++;
  }
  return x;
}
