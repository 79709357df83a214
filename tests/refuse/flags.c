// Loops that wait for a variable by plain loads: which variables are flags, and which may be more than that.
// RUN: for level in 0 1 2; do clang-22 -O$level -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s || exit 1; done
#include <string.h>

static int flag, flags[64], looked_at, taken, counted, filled[8];
static volatile char stage;
static double number;
static struct {
  int head;
  double data[8];
} mixed;
int known_elsewhere;
void use(int *);

void set(void) {
  flag = 1;
  stage = 3;
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: parallel region runs on rank 0 alone: it waits for a flag that another thread sets ({{.*}}flags.c:[[# @LINE + 3]]); on several nodes the ranks run it where that pays, and everywhere with OKL_FLAGS=ranks
void on_variable(void) {
#pragma omp parallel
  while (!flag) {
#pragma omp flush
  }
}

// What is compared with a flag is none, nor what tells which one it is.
static int needed, first;

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits for a flag that another thread sets ({{.*}}flags.c:[[# @LINE + 3]])
void on_one_of_several(void) {
#pragma omp parallel
  while (flags[first] < needed) {
#pragma omp taskyield
  }
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits for a flag
void on_volatile(void) {
#pragma omp parallel
  while (stage != 3) {
  }
}

static int look(int i) { return flags[i]; }

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits for a flag
void on_array(int i) {
#pragma omp parallel
  {
    while (flags[i - 1] <= 7) {
#pragma omp flush
    }
    flags[i] = look(i) + 1;
  }
}

// CHECK: flags.c:[[# @LINE + 3]]:1: warning: {{.*}}it waits for a flag
void on_captured(int i) {
  int done[8] = {0};
#pragma omp parallel
  {
    while (!done[i]) {
#pragma omp flush
    }
    done[i + 1] = 1;
  }
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_public(void) {
#pragma omp parallel
  while (!known_elsewhere) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 3]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_escaping(void) {
  use(&taken);
#pragma omp parallel
  while (!taken) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_updated(void) {
#pragma omp parallel
  {
#pragma omp atomic
    counted++;
    while (counted < 2) {
#pragma omp flush
    }
  }
}

// CHECK: flags.c:[[# @LINE + 3]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_filled(void) {
  memset(filled, 1, sizeof filled);
#pragma omp parallel
  while (filled[2]) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_number(void) {
#pragma omp parallel
  while (number < 1) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 3]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_a_part(void) {
  mixed.data[1] = 1;
#pragma omp parallel
  while (!mixed.head) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_parameter(int *flag) {
#pragma omp parallel
  while (!*flag) {
#pragma omp flush
  }
}

// CHECK: flags.c:[[# @LINE + 4]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable
void on_pointed_to(void) {
  static int one, other;
  int *volatile which = &one;
#pragma omp parallel
  while (!*which || looked_at == other) {
#pragma omp flush
  }
}
