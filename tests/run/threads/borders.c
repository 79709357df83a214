// Arrays in pages that several threads and ranks share: some threads read parts that stay as they are
// while others write next to them, in the first region that writes the array.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6007, ROUNDS = 40 };

int main(void) {
  long wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int half = N / 2 + round * 3;
    long *a = malloc(N * sizeof *a), *sums = malloc(64 * sizeof *sums);
    for (int i = 0; i < N; i++) a[i] = i + round;
    // The lower half becomes twice the upper one, which is read only: their border lies inside a page.
#pragma omp parallel for
    for (int i = 0; i < half; i++) a[i] = 2 * a[half + i % (N - half)];
    for (int i = 0; i < N; i++) wrong += a[i] != (i < half ? 2L * (half + i % (N - half) + round) : i + round);
    // Every other thread writes its block, the rest read blocks that nobody writes, of a new array: its
    // pages have not been written in a region before.
    a = malloc(N * sizeof *a);
    for (int i = 0; i < N; i++) a[i] = i;
    for (int i = 0; i < 64; i++) sums[i] = 0;
    int size = 1;
#pragma omp parallel
    {
      int me = omp_get_thread_num(), team = omp_get_num_threads();
      int first = (long)N * me / team, last = (long)N * (me + 1) / team;
      if (me == 0) size = team;
      if (me % 2 == round % 2)
        for (int i = first; i < last; i++) a[i] += 5;
      else {
        long sum = 0;
        for (int i = first; i < last; i++) sum += a[i];
        sums[me] = sum;
      }
    }
    for (int me = 0; me < size; me++) {
      int first = (long)N * me / size, last = (long)N * (me + 1) / size;
      long sum = 0;
      for (int i = first; i < last; i++) {
        wrong += a[i] != i + (me % 2 == round % 2 ? 5 : 0);
        sum += i;
      }
      wrong += sums[me] != (me % 2 == round % 2 ? 0 : sum);
    }
  }
  printf("wrong %ld\n", wrong);
  return 0;
}
