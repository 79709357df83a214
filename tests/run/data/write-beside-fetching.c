// A thread hands the kernel more than its rank may hold, while another one fetches as much: what the kernel reads is not
// given up meanwhile, so that all of it is written at once.
// env: OKL_MEMORY=32M
// warns: parallel region runs on rank 0 alone: it calls tmpfile on a file that is open in one process only
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 3000000 };

int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    a[i] = i % 100, b[i] = i % 50;
  long written = 0, sum = 0;
  // Temporary files are rank 0's: so is the region.
#pragma omp parallel reduction(+ : written, sum)
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    if (me == 0) {
      FILE *own = tmpfile();
      written += write(fileno(own), a, N * sizeof *a);
      fclose(own);
    }
    if (me == all - 1)
      for (int k = 0; k < 3; k++)
        for (int i = 0; i < N; i += 16)
          sum += (long)b[i] + (long)a[N - 1 - i];
  }
  printf("%ld %ld\n", written, sum);
  free(a), free(b);
}
