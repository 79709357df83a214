// What is wrong with the pragmas of loop chains is said at their files, lines and columns, all of it, and nothing is
// compiled.
//
// RUN: split-file %s %t.d && cd %t.d && touch bad.o && (%okl-cc -fopenmp -c bad.c -o bad.o; echo "ends with $?"; ls bad.o) >bad.txt 2>&1; diff -B expected.txt bad.txt
// RUN: cd %t.d && (%okl-c++ -fopenmp -fsyntax-only more.cpp; echo "ends with $?") >more.txt 2>&1; diff -B expected-more.txt more.txt
// RUN: cd %t.d && (%okl-cc -x c -c - <typed.c; echo "ends with $?") 2>&1 | FileCheck --check-prefix=TYPED --match-full-lines %s
// TYPED: <stdin>:2:9: error: the loop chain has no loops: '#pragma omplc for domain(...)' stands in front of each of them
// TYPED-NEXT: ends with 1
//
// What clang says of numbers in pragmas is at their places.
// RUN: cd %t.d && (%okl-cc -c clang.c 2>&1 || true) | FileCheck --check-prefix=CLANG %s
// CLANG: {{^}}clang.c:4:51: error: use of undeclared identifier 'm'
// CLANG: {{^}}clang.c:6:31: error: use of undeclared identifier 'size'
// CLANG: {{^}}clang.c:6:44: error: operand of type 'struct S' where arithmetic or pointer type is required
// CLANG: 3 errors generated.
//
// RUN: cd %t.d && (%okl-cc -include clang.h -c clang.c; clang-22 -x c-header clang.h -o clang.h.pch; %okl-cc -include clang.h -c clang.c; %okl-cc -include-pch clang.h.pch -c clang.c || true) 2>&1 | FileCheck --check-prefix=PRECOMPILED %s
// PRECOMPILED: error: use of undeclared identifier 'm'
// PRECOMPILED: {{^}}okl-cc: error: clang.c has loop chains, which are not read where a precompiled header is included; include the header itself
// PRECOMPILED-NEXT: {{^}}okl-cc: error: clang.c has loop chains, which are not read where a precompiled header is included; include the header itself
// Comments may have other bytes than those of UTF-8.
// RUN: cd %t.d && printf '/* \377 */ #pragma omplc\n' >bytes.c && (%okl-cc -c bytes.c; printf 'char s[] = "\377"; // omplc' >bytes.c; %okl-cc -c bytes.c || true) 2>&1 | FileCheck --check-prefix=BYTES %s
// BYTES: {{^}}bytes.c:1:17: error: 'loopchain', 'for' or 'strip' is missing behind '#pragma omplc'
// BYTES-NEXT: {{^}}okl-cc: error: bytes.c has loop chains, and is not UTF-8

// What is wrong with orders is said in the source's words, where nothing is compiled with -g as well.
// RUN: cd %t.d && (%okl-cc --okl-target=cpu -fopenmp -O1 -c orders.c 2>&1 || true) | FileCheck --check-prefix=ORDERS %s
// ORDERS-DAG: {{^}}orders.c:4:34: error: iterations cannot run in parallel: loop 1 (line 6) overwrites what it reads of `most`, dependence (1) between iterations; `most` is one variable for all iterations, and more is done with it than to combine something with it by + * & | ^ && || or as the least or the largest: declare it in the loop, or name it in `private` or `reduction`{{$}}
// ORDERS-DAG: {{^}}orders.c:22:48: error: c is no data space of the loops of this chain, as far as is known of those that say nothing of what they access: say it
// ORDERS-DAG: {{^}}warning: orders.c:16: the loop chain stays as it is: its order has the number 5000, and 4096 is the most: smaller tiles and shifts have smaller numbers, and the size of a tile may be a variable
// A temporary space may be one that nothing is said of.
// RUN: cd %t.d && %okl-cc --okl-target=cpu -fopenmp -O1 -Rpass=okl -c local.c 2>&1 | FileCheck --check-prefix=LOCAL %s
// LOCAL: local.c:{{.*}}: remark: passing shrinks to (2)

//--- orders.c
void f(double *a, double *b, int n) {
  double most = 0;
  int where = 0;
#pragma omplc loopchain schedule(parallel)
  {
#pragma omplc for domain(0 : n - 1) with(i) read a{(i)}
    for (int i = 0; i < n; ++i)
      if (a[i] > most) {
        most = a[i];
        where = i;
      }
  }
  b[0] = most + where;
}
void g(double *a, double *b, int n) {
#pragma omplc loopchain schedule(tile((5000), serial, serial))
  {
#pragma omplc for domain(0 : n - 1)
    for (int i = 0; i < n; ++i)
      a[i] = b[i];
  }
#pragma omplc loopchain schedule(fuse()) local(c)
  {
#pragma omplc for domain(0 : n - 1)
    for (int i = 0; i < n; ++i)
      b[i] = a[i];
  }
}

//--- local.c
static double field[100], passing[100];
void p(void) {
#pragma omplc loopchain schedule(fuse()) local(passing)
  {
#pragma omplc for domain(0 : 98)
    for (int i = 0; i < 99; ++i)
      passing[i] = field[i] * 2;
#pragma omplc for domain(1 : 98)
    for (int i = 1; i < 99; ++i)
      field[i] = passing[i] + passing[i - 1];
  }
}

//--- bad.h
#define RANGE 1 : n,
#pragma omplc for domain(0:9)
static int header;

//--- bad.c
#include "bad.h"
void f(double *a, double *b, int n) {
  int i, t = n;
#pragma omplc
#pragma omplc loop
#pragma omplc loopchain schedule(fuse, \
    til((8)))
#pragma omplc loopchain schedule()
  for (i = 0; i < n; ++i) a[i] = 1;
#pragma omplc for domain(0:n-1)
  for (i = 0; i < n; ++i) a[i] = 1;
#pragma omplc loopchain schedule(fuse((0),(1),(2))) local(B, C)
  {
#pragma omplc loopchain schedule(serial)
    {
    }
#pragma omplc for domain(0:n-1)
    a[0] = 1;
#pragma omplc for domain(0:n-1) with(i) \
                  read B{(i), (2 * i)}
    for (i = 0; i < n; ++i) a[i] = 1;
    #pragma omplc for domain(RANGE)  with(i)
    for (i = 0; i < n; ++i) a[i] = 1;
#pragma omplc for domain(0:n-1) with(i) read B{(i)}
#pragma omplc for domain(0:n-1)
    for (i = 0; i < n; ++i) a[i] = 1;
#pragma omplc for domain(0:n-1) with(i) read B{(i,0)}, write B{(i)}
#pragma omp parallel for ordered  firstprivate(t)
    for (i = 0; i < n; ++i) {
#pragma omplc for domain(0:n-1)
      for (int j = 0; j < n; ++j) a[j] = 1;
    }
#pragma omp parallel for reduction(inscan, + : t) private(a[1])
#pragma omplc for domain(0:n-1) with(i) read B{(i,0)}
    for (i = 0; i < n; ++i) a[i] = 1;
  }
#pragma omplc for domain(0:n-1)
}
#pragma omplc strip n
#pragma omplc for domain(0:9)
for (;;) {}
void g(double *a, int n) {
#pragma omplc strip
  if (n) a[0] = 1;
#pragma omplc for domain(0:n-1)
  for (int i = 0; i < n; ++i) {
#pragma omplc strip
    a[i] = 1;
#pragma omplc strip
    if (n) { static int once; a[i] += once++; }
  }
}
#pragma omplc loopchain schedule()

//--- expected.txt
./bad.h:2:9: error: '#pragma omplc for' is not in front of a 'for' loop: 'static' follows
bad.c:4:9: error: 'loopchain', 'for' or 'strip' is missing behind '#pragma omplc'
bad.c:5:15: error: unknown pragma 'omplc loop': there are 'omplc loopchain schedule(...)', in front of the block that the loops are in, 'omplc for domain(...)', in front of a loop, and 'omplc strip', in front of an 'if' in a loop
bad.c:7:5: error: 'til' cannot stand here: there are fuse, tile((...), ...), serial, parallel, wavefront and auto
bad.c:8:9: error: '{' is missing behind '#pragma omplc loopchain', and '}' behind the loops of the chain; 'for' follows
bad.c:12:34: error: 'fuse' has 3 shifts, and the chain has 8 loops: each loop has one shift
bad.c:14:9: error: a loop chain cannot stand in another one, which begins in line 12
bad.c:17:9: error: '#pragma omplc for' is not in front of a 'for' loop, or of a call of a function that has one: 'a' follows
bad.c:20:32: error: 'i' is multiplied by 2; an index is an iterator and a constant, such as i, i-1 or i+2, or a constant; where that is not all, leave out 'with', 'read' and 'write' of this loop, and they are found out
bad.c:22:35: error: a range such as 0:n-1 is missing in front of ')'
bad.c:25:9: error: the loop has a '#pragma omplc for' already
bad.c:30:9: error: '#pragma omplc' cannot stand in a loop of a chain
bad.c:33:26: error: the clause 'reduction' cannot be kept in a loop chain where it is 'inscan'
bad.c:37:9: error: '#pragma omplc for' is not in front of a 'for' loop: '}' follows
bad.c:39:21: error: 'n' cannot stand behind 'strip'
bad.c:40:9: error: '#pragma omplc for' is in no loop chain, and in no function that one may call
bad.c:43:9: error: '#pragma omplc strip' is in no loop with a '#pragma omplc for'
bad.c:47:9: error: '#pragma omplc strip' is not in front of an 'if': 'a' follows
bad.c:49:9: error: '#pragma omplc strip' has its loops be there twice, and what is 'static', a label or assembly is there once
bad.c:53:9: error: '{' is missing behind '#pragma omplc loopchain', and '}' behind the loops of the chain; the file ends
ends with 1
ls: cannot access 'bad.o': No such file or directory

//--- more.cpp
void f(double *a, double *b, int n) {
  int t = n;
#pragma omplc loopchain schedule(fuse((0), (1),(2))) local(B, C)
  {
#pragma omplc for domain(0:n-1) with(i) read B{(i)}
    for (int i = 0; i < n; ++i) a[i] = 1;
#pragma omplc for domain(0:n-1) with(i) read B{(i,0)}, write B{(i)}
    for (int i = 0; i < n; ++i) a[i] = 1;
  }
#pragma omplc loopchain schedule(fuse((0), (1)))
  {
#pragma omplc for domain(0:n-1) with(i) read B{(i)}
#pragma omp parallel for ordered firstprivate(n)
    for (int i = 0; i < n; ++i) a[i] = 1;
#pragma omp parallel for firstprivate(t) num_threads(2)
#pragma omplc for domain(0:n-1) with(i) read B{(i)}
    for (int i = 0; i < n; ++i) a[i] = ++t;
  }
}
void g(double *a, int n) {
#pragma omplc loopchain schedule()
#pragma omp parallel
  {
#pragma omplc for domain(0:n-1)
    for (int i = 0; i < n; ++i) a[i] = 1;
  }
}

//--- expected-more.txt
more.cpp:3:34: error: 'fuse' has 3 shifts, and the chain has 2 loops: each loop has one shift
more.cpp:3:63: error: no loop of the chain accesses 'C'
more.cpp:7:46: error: elements of 'B' have 2 indices here and 1 in line 5
more.cpp:13:26: error: the clause 'ordered' cannot be kept in a loop chain
more.cpp:21:9: error: a directive of OpenMP cannot stand between '#pragma omplc loopchain' and its '{'
ends with 1

//--- typed.c
int n;
#pragma omplc loopchain schedule()
{
}

//--- clang.h
static int of_header;

//--- clang.c
struct S { int i; };
void f(double *a, struct S s) {
#define LAST(x) x
#pragma omplc loopchain schedule(fuse((0)), tile((m), serial, serial))
  {
#pragma omplc for domain(LAST(size) : s)
    for (int i = 0; i < 9; ++i)
      a[i] = 1;
  }
}
