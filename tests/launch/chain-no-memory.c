// Tiles that overlap rely on what each has for itself: a thread that gets no memory for it says so, and ends the program.
// RUN: %okl-cc --okl-target=cpu -O1 -fopenmp %s -o %t
// RUN: OMP_NUM_THREADS=1 %t | FileCheck --check-prefix=ENOUGH %s
// ENOUGH: right
// RUN: (OMP_NUM_THREADS=1 %t none 2>&1 || echo ended) | FileCheck %s
// CHECK-NOT: right
// CHECK: {{^}}okl: no memory for the temporary spaces of a loop chain{{$}}
// CHECK-NOT: right
// CHECK: ended
#include <stdio.h>
#include <sys/resource.h>

enum { ROWS = 17, ROW = 20000 };
static double a[ROWS][ROW], b[ROWS][ROW], c[ROWS][ROW];

// A tile and its edge are 1.4 MB.
__attribute__((noinline)) static void chain(void) {
#pragma omplc loopchain schedule(fuse((0), (0)), tile((8), parallel, serial, overlap)) local(b)
  {
#pragma omplc for domain(0 : ROWS - 1, 0 : ROW - 1) with(i, j) read a{(i, j)} write b{(i, j)}
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < ROW; j++)
        b[i][j] = a[i][j] + 3;
#pragma omplc for domain(1 : ROWS - 1, 0 : ROW - 1) with(i, j) read b{(i, j), (i - 1, j)} write c{(i, j)}
    for (int i = 1; i < ROWS; i++)
      for (int j = 0; j < ROW; j++)
        c[i][j] = b[i][j] + b[i - 1][j];
  }
}

int main(int argc, char **argv) {
  (void)argv;
  a[3][7] = 1;
  // The run time of OpenMP needs memory before.
#pragma omp parallel
  c[0][0] = 1;
  if (argc > 1) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &limit);
  }
  chain();
  puts(c[3][7] == 7 ? "right" : "wrong");
}
