// C11 thread-local variables behave like threadprivate ones, also static ones in functions.
// threads: any
#include <omp.h>
#include <stdio.h>

static _Thread_local int calls = 3;

static int next(void) {
  static _Thread_local int last;
  calls++;
  return ++last;
}

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num();
    for (int k = 1; k <= me + 2; k++) wrong += next() != k;
    wrong += calls != 3 + me + 2;
  }
  printf("%d %d %d\n", wrong, calls, next());
  return 0;
}
