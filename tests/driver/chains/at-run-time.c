// What a chain's order relies on and nobody has proved is asked when the program runs: that names are of different memory, and
// how far loops go. Where it does not hold the loops run as they are written, and with OKL_VERIFY=1 the program ends with a
// message.
//
// RUN: split-file %s %t.d && cd %t.d && bash -eu run %okl-cc %okl-c++
// RUN: cd %t.d && FileCheck --check-prefix=SAID --input-file=said.txt %s
// SAID:     overlap.c:11:9: okl: A and B have memory in common
// SAID:     overlap.c:11:9: okl: A and B have memory in common
// SAID:     overlap.c:26:26: okl: the domain of this loop is declared as 1:{{.*}}, and it goes through 1:{{.*}}: 8, not 9
// SAID:     overlap.c:62:9: okl: {{.*}} have memory in common

//--- run
for source in overlap.c overlap.cpp; do
  case $source in
  *.cpp) driver=$2 clang=clang++-22 ;;
  *) driver=$1 clang=clang-22 ;;
  esac
  $clang -w $source -o clang.out
  for words in '-O0 -g' -O2; do
    $driver -Werror --okl-strict --okl-target=cpu -fopenmp -Rpass=okl $words $source -o okl.out 2>remarks.txt
    [ $(grep -c 'remark: the loop chain runs as scheduled' remarks.txt) = 5 ]
    for case in 0 1 2 3 4 5 6 7 8; do
      ./clang.out $case >clang.txt
      ./okl.out $case >okl.txt
      diff clang.txt okl.txt
      OKL_VERIFY=0 ./okl.out $case >okl.txt
      diff clang.txt okl.txt
    done
    # These are as they are said to be.
    for case in 0 3 4 6 7; do
      OKL_VERIFY=1 ./okl.out $case >okl.txt
    done
    : >said.txt
    for case in 1 2 5 8; do
      ! OKL_VERIFY=1 ./okl.out $case >okl.txt 2>>said.txt
    done
    [ $(grep -c okl: said.txt) = 4 ]
  done
done

//--- overlap.cpp
#include "overlap.c"

//--- overlap.c
#include <stdio.h>
#include <stdlib.h>

static double space[100];
// Pointers in variables that the loops might write.
static double *from = space, *to = space + 40;
struct line { int n; double *data; };

// Behind the other one A(i) reads what B(i - 1) has written.
static void declared(double *A, double *B, int n) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : n) with(i) write A{(i)}, read B{(i), (i + 1)}
    for (int i = 1; i <= n; i++)
      A[i] = B[i] + B[i + 1];
#pragma omplc for domain(1 : n) with(i) read A{(i)}, write B{(i)}
    for (int i = 1; i <= n; i++)
      B[i] = A[i] * 3;
  }
}

// What is not declared need not be trusted.
static void found(double *A, double *B, int n, int m) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : m)
    for (int i = 1; i < n; i++)
      A[i] = B[i] + B[i + 1];
#pragma omplc for domain(1 : m)
    for (int i = 1; i <= m; i++)
      B[i] = A[i] * 3;
  }
}

static void in_variables(int n) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : n)
    for (int i = 1; i <= n; i++)
      to[i] = from[i] + from[i + 1];
#pragma omplc for domain(1 : n)
    for (int i = 1; i <= n; i++)
      from[i] = to[i] * 3;
  }
}

// Without signs; where there is nothing to do, too.
static void without_signs(double *A, double *B, unsigned n) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(1 : (long)n - 2)
    for (unsigned i = 1; i < n - 1; i++)
      A[i] = B[i] + 1;
#pragma omplc for domain(1 : (long)n - 2)
    for (unsigned i = 1; i < n - 1; i++)
      B[i] = A[i] * 3;
  }
}

// Rows, of which one has them in the other direction.
static void rows(double *A, double *B) {
#pragma omplc loopchain schedule(fuse())
  {
#pragma omplc for domain(0 : 2, 0 : 8)
    for (int i = 0; i <= 2; i++)
      for (int j = 0; j < 9; j++)
        A[i * 10 + j] = B[j - i * 10];
#pragma omplc for domain(0 : 2, 0 : 8)
    for (int i = 0; i <= 2; i++)
      for (int j = 0; j < 9; j++)
        B[j - i * 10] = A[i * 10 + j] * 3;
  }
}

int main(int argc, char **argv) {
  int which = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < 100; i++)
    space[i] = i % 7;
  switch (which) {
  case 0: declared(space, space + 30, 20); break;
  case 1: declared(space + 1, space, 20); break;
  case 2: declared(space, space + 19, 20); break;
  case 3: found(space, space + 30, 10, 9); break;
  case 4: in_variables(20); break;
  case 5: found(space, space + 30, 10, 8); break;
  case 6: without_signs(space, space + 30, 20), without_signs(space, space + 1, 2); break;
  // From 0 to 28, and from 50 - 20 to 58; then from 28.
  case 7: rows(space, space + 50); break;
  case 8: rows(space, space + 48); break;
  }
  for (int i = 0; i < 100; i++)
    printf("%g\n", space[i]);
}
