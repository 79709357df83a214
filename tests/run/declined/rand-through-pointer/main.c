// An unsafe function in another file that is reached through a pointer only: seen at start-up.
// threads: any
// flags: -gline-tables-only
// ranks: 2 4
// expect-stderr: main.c:13 runs on rank 0 alone: it calls rand
// expect-stderr: draw.c:4
#include <stdio.h>

int (*choose(int i))(void);

int main(void) {
  int a[20];
#pragma omp parallel for ordered
  for (int i = 0; i < 20; i++) {
#pragma omp ordered
    a[i] = choose(i)();
  }
  printf("%d %d\n", a[0], a[1] == a[3]);
  return 0;
}
