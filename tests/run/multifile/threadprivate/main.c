// A threadprivate variable defined in one file and used in another.
// threads: any
#include <omp.h>
#include <stdio.h>

int depth = 4;
double history[8];
#pragma omp threadprivate(depth, history)
int descend(int by);

int main(void) {
  int wrong = 0;
  depth = 9;
#pragma omp parallel copyin(depth) reduction(+ : wrong)
  {
    int me = omp_get_thread_num();
    wrong += depth != 9;
    wrong += descend(me + 1) != 8 - me;
    wrong += depth != 8 - me || history[3] != me + 1;
  }
  printf("%d %d %.0f\n", wrong, depth, history[3]);
  return 0;
}
