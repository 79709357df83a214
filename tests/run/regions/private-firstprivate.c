// private and firstprivate scalars, arrays and structs leave the originals alone.
// threads: any
#include <stdio.h>
#include <string.h>

struct state {
  int count;
  char name[12];
};

int main(void) {
  int x = 7, array[5] = {1, 2, 3, 4, 5}, out[60], check[60];
  struct state state = {3, "original"};
  double work[8] = {9};
#pragma omp parallel private(work) firstprivate(x, array, state)
  {
    for (int k = 0; k < 8; k++) work[k] = k;
    x += 100;
    array[2] = x;
    state.count++;
    strcpy(state.name, "changed");
#pragma omp for
    for (int i = 0; i < 60; i++) {
      out[i] = x + array[i % 5] + state.count + (int)work[i % 8];
      check[i] = strcmp(state.name, "changed");
    }
  }
  for (int i = 0; i < 60; i++) printf("%d/%d ", out[i], check[i]);
  printf("\n%d %d %d %s %.0f\n", x, array[2], state.count, state.name, work[0]);
#pragma omp parallel for firstprivate(array) private(x)
  for (int i = 0; i < 60; i++) {
    x = i;
    out[i] = array[4] * x;
  }
  printf("%d %d\n", x, out[59]);
  return 0;
}
