#include <omp.h>
extern double shared_cells[1000];
extern int shared_count;
void from_c(int i);

void c_double_all(double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2 * a[i] + shared_cells[i] - a[i];
#pragma omp parallel
  from_c(omp_get_thread_num());
}
