// A naked function is its assembly alone: a check in front of it overwrote its argument.
// warns: runs on rank 0 alone
#include <stdio.h>

__attribute__((naked, noinline)) static int three_more(int x) {
  __asm__("lea 3(%rdi), %eax\n\tret");
}

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 40; i++) sum += three_more(i);
  printf("%d\n", sum);
  return 0;
}
