// exit() deep in serial code flushes output, runs atexit functions and ends all ranks with its code.
// threads: any
// expect-exit: 3
#include <stdio.h>
#include <stdlib.h>

static int data[100];

static void last(void) { printf("atexit last %d\n", data[99]); }
static void first(void) { printf("atexit first\n"); }

static void leave(int depth) {
  if (depth == 0) {
    printf("leaving");
    exit(3);
  }
  leave(depth - 1);
}

int main(void) {
  atexit(last);
  atexit(first);
#pragma omp parallel for
  for (int i = 0; i < 100; i++) data[i] = i;
  leave(10);
  return 0;
}
