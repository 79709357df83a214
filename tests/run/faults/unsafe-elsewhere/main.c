// A construct that must not run on several ranks, in another source file: the region runs as a team
// of one, and the user is told at the start of the region.
// ranks: 2 3
// flags: -g
// threads: 1
// expect-stderr: main.c:14 runs as a team of one: it calls rand
#include <stdio.h>

int draw(void);

int main(void) {
  int sum = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += draw() % 10;
  }
  printf("%d\n", sum);
  return 0;
}
