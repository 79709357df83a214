// Writing the value that is already there must neither be lost nor undo another thread's write.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[2048];
  int wrong = 0;
  for (int round = 0; round < 12; round++) {
    // All threads share all pages; half of the writes change nothing.
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 2048; i++) a[i] = (i + round) % 3 ? a[i] : round;
#pragma omp parallel for schedule(static, 5) reduction(+ : wrong)
    for (int i = 0; i < 2048; i++) wrong += (i + round) % 3 == 0 && a[i] != round;
  }
  long sum = 0;
  for (int i = 0; i < 2048; i++) sum += a[i] * (long)i;
  printf("%d %ld\n", wrong, sum);
  return 0;
}
