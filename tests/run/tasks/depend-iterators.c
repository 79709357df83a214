// Dependences with iterators and depend objects.
// threads: any
// flags: -fopenmp-version=51
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[8] = {0}, sum = 0, late = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 8; i++) {
#pragma omp task depend(out : a[i])
      a[i] = i * i;
    }
#pragma omp task depend(iterator(k = 0 : 8), in : a[k]) depend(out : sum)
    for (int k = 0; k < 8; k++) sum += a[k];
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : sum)
#pragma omp task depend(depobj : object)
    sum *= 2;
#pragma omp task depend(depobj : object)
    late = sum + 1;
#pragma omp depobj(object) destroy
  }
  printf("%d %d\n", sum, late);
  return 0;
}
