// threadprivate variables keep each thread's value from region to region; serial code sees thread 0's.
#include <omp.h>
#include <stdio.h>

static int counter = 10;
static double table[4] = {1, 2, 3, 4};
static struct {
  char name[4];
  long n;
} state = {"abc", 5};
#pragma omp threadprivate(counter, table, state)

int main(void) {
  int shown[16][4] = {{0}};
  counter = 100;
  omp_set_dynamic(0);
  for (int round = 0; round < 3; round++) {
#pragma omp parallel
    {
      int me = omp_get_thread_num();
      counter += me + 1;
      table[me % 4] += 0.5;
      state.n += me;
      state.name[0]++;
    }
  }
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    shown[me][0] = counter;
    shown[me][1] = (int)(table[me % 4] * 10);
    shown[me][2] = (int)state.n;
    shown[me][3] = state.name[0];
  }
  for (int t = 0; t < 16; t++)
    if (shown[t][3]) printf("%d %d %d %c\n", shown[t][0], shown[t][1], shown[t][2], shown[t][3]);
  printf("serial %d %.1f %ld %s\n", counter, table[0], state.n, state.name);
  return 0;
}
