// Variables of which each thread has one: the models of C, and OpenMP's threadprivate.
// RUN: %S/compile %plugin %s -std=c11
#include <stdio.h>
static _Thread_local int local = 3;
_Thread_local int public_one;
__thread double array[40] = {1, 2};
__attribute__((tls_model("initial-exec"))) _Thread_local int initial;
__attribute__((tls_model("local-exec"))) static _Thread_local int exec;
extern _Thread_local int elsewhere __attribute__((weak));
static int mine, *pointer;
#pragma omp threadprivate(mine, pointer)
struct pair {
  int a, b;
};
static _Thread_local struct pair both = {1, 2};

static int *address(int which) { return which ? &both.b : &local; }

int main(void) {
  int s = 0;
  static _Thread_local int inside = 7;
  mine = 4;
#pragma omp parallel copyin(mine, local) reduction(+ : s)
  {
    pointer = &mine;
    array[3] += 1;
    int *p = (*pointer > 3) ? &initial : &exec;
    *p += 2;
#pragma omp for
    for (int i = 0; i < 30; i++)
      s += *address(i & 1) + *pointer + inside + public_one + (int)array[i % 4] + initial + exec;
  }
  printf("%d\n", s);
  return 0;
}
