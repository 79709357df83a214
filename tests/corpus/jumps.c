// setjmp and longjmp, signals, functions that return twice or never, deep switches.
// RUN: %S/compile %plugin %s
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static _Noreturn void leave(int n) { longjmp(place, n); }
static int guarded(int x) {
  jmp_buf own;
  volatile int v = x;
  if (setjmp(own) == 0) {
    if (v > 3)
      longjmp(own, 1);
    return v;
  }
  return -v;
}
static int duff(const char *from, int n) {
  int s = 0;
  switch (n % 4) {
    do {
  case 0: s += *from++;
  case 3: s += *from++;
  case 2: s += *from++;
  case 1: s += *from++;
    } while ((n -= 4) > 0);
  }
  return s;
}
int main(void) {
  int s = 0;
  char text[64] = {1, 2, 3};
  if (setjmp(place) == 0)
    leave(2);
#pragma omp parallel for reduction(+ : s)
  for (int i = 1; i < 60; i++) {
    s += duff(text, i);
    if (i > 5000)
      __builtin_trap();
    goto in;
  again:
    s++;
  in:
    if (s % 7 == 3)
      goto again;
  }
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 10; i++)
    s += guarded(i);
  printf("%d\n", s);
  return 0;
}
