// C++ whose chains call Fortran: pragmas stand in front of the calls, and the procedures' code takes their place when the program
// is linked, what flang says of arguments for one call alone not among it. Members and templates of other files, too.
//
// REQUIRES: flang
// RUN: split-file %s %t.d && cd %t.d && flang -c smooth.f90 -o plain.o && clang++-22 -w -O1 main.cpp plain.o -o plain && ./plain >expected
// RUN: cd %t.d && %okl-fc --okl-target=cpu -O3 -flto -c smooth.f90 && %okl-c++ --okl-target=cpu -O3 -flto -fopenmp -Rpass=okl main.cpp smooth.o -o program 2>&1 | FileCheck %s && ./program | diff - expected
// RUN: cd %t.d && %okl-fc --okl-target=cpu -g -flto -c smooth.f90 -o debug.o && %okl-c++ --okl-target=cpu -g -flto -fopenmp -Rpass=okl -c main.cpp && %okl-c++ --okl-target=cpu -g -flto -fopenmp main.o debug.o -o debug 2>&1 | FileCheck %s && ./debug | diff - expected
// CHECK: main.cpp:10:9: the loop chain runs as scheduled
// CHECK: main.cpp:19:9: the loop chain runs as scheduled
//
//--- smooth.f90
subroutine smooth(n, a, b)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(0:n+1)
  real(8), intent(inout) :: b(0:n+1)
  integer :: i
  do i = 1, n
    b(i) = 0.5d0 * (a(i-1) + a(i+1))
  end do
end subroutine
subroutine sweep(n, m, a, b)
  implicit none
  integer, intent(in) :: n, m
  real(8), intent(in) :: a(0:n+1, 0:m+1)
  real(8), intent(inout) :: b(0:n+1, 0:m+1)
  integer :: i, j
  do j = 1, m
    do i = 1, n
      b(i, j) = 0.25d0 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
    end do
  end do
end subroutine

//--- main.cpp
#include <cstdio>
extern "C" {
void smooth_(const int *n, const double *a, double *b);
void sweep_(const int *n, const int *m, const double *a, double *b);
}
enum { N = 1000, M = 60 };
static double a[N + 2], b[N + 2], c[(M + 2) * (N + 2)], d[(M + 2) * (N + 2)];
static void lines(int n, double *a, double *b) {
  static_assert(N % 8 == 0);
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1:n) with(i) read a{(i-1),(i+1)}, write b{(i)}
    smooth_(&n, a, b);
#pragma omplc for domain(1:n) with(i) read b{(i-1),(i+1)}, write a{(i)}
    smooth_(&n, b, a);
  }
}
static void planes(int n, int m, double *a, double *b) {
#pragma omplc loopchain schedule(fuse(), tile((8,64), wavefront, serial))
  {
#pragma omplc for domain(1:m, 1:n)
    sweep_(&n, &m, a, b);
#pragma omplc for domain(1:m, 1:n)
    sweep_(&n, &m, b, a);
  }
}
int main() {
  for (int i = 0; i < N + 2; i++) a[i] = i % 7;
  for (int i = 0; i < (M + 2) * (N + 2); i++) c[i] = i % 13;
  for (int t = 0; t < 10; t++) lines(N, a, b), planes(N, M, c, d);
  double sum = 0;
  for (int i = 0; i < N + 2; i++) sum += a[i] * i + b[i];
  for (int i = 0; i < (M + 2) * (N + 2); i++) sum += c[i] * (i % 5) + d[i];
  std::printf("%a\n", sum);
}
