// Inline assembly: with branches, tied operands, all of memory; functions without a frame.
// RUN: %S/compile %plugin %s
#include <stdio.h>
static long shared_word;
__attribute__((naked, noinline)) static int bare(int x) { __asm__("lea 3(%rdi), %eax\n\tret"); }
static int branch(int x) {
  __asm__ goto("test %0, %0\n\tjz %l[zero]" : : "r"(x) : "cc" : zero);
  return 1;
zero:
  return 2;
}
static int branch_with_result(int x) {
  int y;
  __asm__ goto("mov %1, %0\n\tcmp $5, %0\n\tjg %l2" : "=r"(y) : "r"(x) : "cc" : big);
  return y;
big:
  return y * 2;
}
register void *stack_pointer __asm__("rsp");

int main(void) {
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 40; i++) {
    int sum = i, high;
    __asm__("addl %1, %0" : "+r"(sum) : "g"(i) : "cc");
    __asm__ volatile("" : : : "memory");
    __asm__("cpuid" : "=a"(high) : "a"(0) : "ebx", "ecx", "edx");
    register int chosen __asm__("r10") = i;
    __asm__("" : "+r"(chosen));
    __asm__ volatile("lock incq %0" : "+m"(shared_word));
    s += sum + bare(i) + branch(i) + branch_with_result(i) + chosen + (high & 0);
  }
  printf("%d\n", s + (stack_pointer == 0));
  return 0;
}
