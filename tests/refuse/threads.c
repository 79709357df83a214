// A program that starts threads or processes itself is refused, in whichever function it does.
// RUN: not clang-22 -O1 -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
#include <pthread.h>
#include <unistd.h>
void *run(void *);

// CHECK: threads.c:[[# @LINE + 3]]:10: error: okl: this file calls pthread_create: threads and processes that a program starts itself cannot be distributed over MPI ranks
int f(pthread_t *t) {
  // The place is that of the call.
  return pthread_create(t, 0, run, 0);
}

// CHECK: threads.c:[[# @LINE + 1]]:{{.*}}: error: okl: this file calls fork: threads and processes
int g(void) { return fork(); }
