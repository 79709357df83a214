// schedule(guided) and schedule(auto): every iteration once.
// threads: any
#include <stdio.h>

int main(void) {
  int count[500] = {0};
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < 500; i++) count[i]++;
#pragma omp parallel for schedule(guided, 20)
  for (int i = 499; i > -1; i -= 1) count[i] += 2;
#pragma omp parallel for schedule(auto)
  for (int i = 0; i <= 499; i++) count[i] += 4;
#pragma omp parallel for schedule(monotonic : guided, 3)
  for (int i = 0; i != 500; i++) count[i] += 8;
  int good = 0;
  for (int i = 0; i < 500; i++) good += count[i] == 15;
  printf("%d\n", good);
  return 0;
}
