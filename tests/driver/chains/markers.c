// The pragmas of a loop chain are calls of markers to the compiler. What it gets can be looked at: all tokens stay in their
// lines and columns, macros in pragmas are expanded, and loops' own directives of OpenMP go.
//
// RUN: split-file %s %t.d && cd %t.d && clang-22 -E -dD -fopenmp chain.c | %okl-cc --okl-normalize - | grep -v '^ *$' | FileCheck --check-prefix=TEXT --strict-whitespace %s
// TEXT:      {{^}}# 1 "chain.c"
// TEXT-LABEL: {{^}}void f(double *a, double *b, long n) {
// TEXT-NEXT: {{^}}  int i = 7; int k;
// TEXT-NEXT: {{^}}# 7 "chain.c"
// TEXT-NEXT: {{^}}# 7 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern _Bool __okl_omplc_scheduled(void) __asm__("__okl_omplc_scheduled") __attribute__((nothrow)); if (__okl_omplc_scheduled())
// TEXT-NEXT: {{^}}# 7 "chain.c"
// TEXT-NEXT: {{^}}  {
// TEXT-NEXT: {{^}}# 7 "chain.c"
// TEXT-NEXT: {{^}}# 5 "chain.c" 3
// TEXT-NEXT: {{^}}extern void __okl_omplc_chain(const char *, ...) __asm__("__okl_omplc_chain") __attribute__((nothrow));
// TEXT-NEXT: {{^}}# 5 "chain.c" 3
// TEXT-NEXT: {{^}}          __okl_omplc_chain("\"chain.c\" @5:11 loopchain schedule(@5:36 fuse((0),($0)), @6:11 tile(($1), @6:27 serial, @6:35 parallel)) local(@6:52 X)", (long)(
// TEXT-NEXT: {{^}}# 5 "chain.c" 3
// TEXT-NEXT: {{^}}                                              s->shift), (long)(
// TEXT-NEXT: {{^}}# 6 "chain.c" 3
// TEXT-NEXT: {{^}}                      n * 2));
// TEXT-NEXT: {{^}}# 7 "chain.c"
// TEXT-NEXT: {{^}}# 8 "chain.c"
// TEXT-NEXT: {{^}}# 9 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern void __okl_omplc_for(const char *, ...) __asm__("__okl_omplc_for") __attribute__((nothrow)); __typeof__(i) i; __typeof__(k) k; {{$}}
// TEXT-NEXT: {{^}}# 9 "chain.c" 3
// TEXT-NEXT: {{^}}            __okl_omplc_for("\"chain.c\" @9:13 for domain(@9:30 1:$0) with(@9:40 i) @9:43 write @9:49 X{(i)} @9:58 read @9:63 A{(i-1),(i)} @8:13 omp parallel for private(@8:38 k) reduction(+:@8:53 g)", (long)(
// TEXT-NEXT: {{^}}# 9 "chain.c" 3
// TEXT-NEXT: {{^}}                               n));
// TEXT-NEXT: {{^}}# 8 "chain.c"
// TEXT-NEXT: {{^}}    for (i = 1; i <= n; ++i) g += b[i] = a[i];
// TEXT-NEXT: {{^}}# 10 "chain.c"
// TEXT-NEXT: {{^}}# 10 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern void __okl_omplc_next(void) __asm__("__okl_omplc_next") __attribute__((nothrow)); __okl_omplc_next(); } }
// TEXT-NEXT: {{^}}# 10 "chain.c"
// TEXT-NEXT: {{^}}    if (n > 0)
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}# 12 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern void __okl_omplc_for(const char *, ...) __asm__("__okl_omplc_for") __attribute__((nothrow));
// TEXT-NEXT: {{^}}# 12 "chain.c" 3
// TEXT-NEXT: {{^}}      __okl_omplc_for("\"chain.c\" @12:7 for domain(@12:7 1:$0)", (long)(
// TEXT-NEXT: {{^}}# 12 "chain.c" 3
// TEXT-NEXT: {{^}}      n));
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}      for (int j =
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}           1; j <=
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}              n; ++j
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}               ) a[j] = b[j];
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}# 12 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern void __okl_omplc_next(void) __asm__("__okl_omplc_next") __attribute__((nothrow)); __okl_omplc_next(); } }
// TEXT-NEXT: {{^}}# 12 "chain.c"
// TEXT-NEXT: {{^}}# 13 "chain.c"
// TEXT-NEXT: {{^}}# 13 "chain.c" 3
// TEXT-NEXT: {{^}}{ extern void __okl_omplc_end(void) __asm__("__okl_omplc_end") __attribute__((nothrow)); __okl_omplc_end(); }
// TEXT-NEXT: {{^}}# 13 "chain.c"
// TEXT-NEXT: {{^}}  }
// TEXT-NEXT: {{^}}# 13 "chain.c"
// TEXT-NEXT: {{^}}# 13 "chain.c" 3
// TEXT-NEXT: {{^}}else
// TEXT-NEXT: {{^}}# 7 "chain.c" 3
// TEXT-NEXT: {{^}}  {
// TEXT-NEXT: {{^}}#pragma omp parallel for private(k) reduction(+:g) schedule(static)
// TEXT-NEXT: {{^}}    for (i = 1; i <= n; ++i) g += b[i] = a[i];
// TEXT-NEXT: {{^}}    if (n > 0)
// TEXT-NEXT: {{^}}# 12 "chain.c" 3
// TEXT:      {{^}}               ) a[j] = b[j];
// TEXT-NEXT: {{^}}  }
// TEXT-NEXT: {{^}}}
// TEXT-NEXT: {{^}}# 13 "chain.c"
// TEXT-NEXT: {{^}}  (void)i, (void)k;
// TEXT-NEXT: {{^}}}
//
// Where OpenMP is not asked for, its directives stay, and say nothing.
// RUN: cd %t.d && clang-22 -E -dD chain.c | %okl-cc --okl-normalize - | grep -v '^ *$' | FileCheck --check-prefix=PLAIN %s
// PLAIN:     __okl_omplc_for("\"chain.c\" @9:13 for domain(@9:30 1:$0) with(@9:40 i) @9:43 write @9:49 X{(i)} @9:58 read @9:63 A{(i-1),(i)}"
// PLAIN-NOT: typeof
// PLAIN:     #pragma omp parallel for private(k) reduction(+:g) schedule(static)
// PLAIN:     for (i = 1;
//
// The command, and the code.
// RUN: cd %t.d && %okl-cc --okl-show -O2 -Iinclude chain.c -o chain | FileCheck --check-prefix=SHOW %s
// SHOW:      clang-22{{.*}} -E -dD -Qunused-arguments -O2 -Iinclude -Wno-unknown-warning-option -x c chain.c -o okl.tmp/0/chain.E.i{{$}}
// SHOW-NEXT: {{^}}okl-cc --okl-normalize okl.tmp/0/chain.E.i >okl.tmp/0/chain.i{{$}}
// SHOW-NEXT: clang-22{{.*}} -O2 --start-no-unused-arguments -Iinclude --end-no-unused-arguments -x cpp-output okl.tmp/0/chain.i -o chain
// RUN: cd %t.d && clang-22 -E -dD -fopenmp chain.c | %okl-cc --okl-normalize - | clang-22 -fopenmp -O1 -x cpp-output -S -emit-llvm - -o - | FileCheck --check-prefix=CODE %s
// CODE-DAG:   c"\22chain.c\22 @5:11 loopchain schedule(@5:36 fuse((0),($0)), @6:11 tile(($1), @6:27 serial, @6:35 parallel)) local(@6:52 X)\00"
// CODE-LABEL: @f(
// CODE:       call void (ptr, ...) @__okl_omplc_chain(ptr {{.*}}, i64 {{.*}}, i64 {{.*}})
// CODE:       call void (ptr, ...) @__okl_omplc_for(ptr {{.*}}, i64 {{.*}})
// CODE:       call void @__okl_omplc_next()
// CODE:       call void (ptr, ...) @__okl_omplc_for(ptr {{.*}}, i64 {{.*}})
// CODE:       call void @__okl_omplc_next()
// CODE:       call void @__okl_omplc_end()
// CODE:       ret void
//
// Plain clang has no chains.
// RUN: cd %t.d && clang-22 -Wall -Wno-unknown-pragmas -Werror -fopenmp -S -emit-llvm -o - chain.c | FileCheck --check-prefix=CLANG %s
// CLANG-NOT: omplc
//
// C++ is as C, and names of functions are not those of C++.
// RUN: cd %t.d && clang++-22 -std=c++14 -E -dD -fopenmp classes.cpp | %okl-c++ --okl-normalize - | clang++-22 -std=c++14 -Wall -Wextra -pedantic -Werror -fopenmp -x c++-cpp-output -S -emit-llvm - -o - | FileCheck --check-prefix=CLASSES %s
// RUN: cd %t.d && %okl-c++ -std=c++14 -Wall -Wextra -pedantic -Werror -fopenmp -fsyntax-only classes.cpp
// CLASSES-COUNT-2: call void (ptr, ...) @__okl_omplc_for(
// CLASSES-NOT: _Z{{.*}}omplc

//--- chain.h
#define STRING(text) _Pragma(#text)
#define LOOP(l, u) STRING(omplc for domain(l:u)) for (int j = l; j <= u; ++j)
#define TWICE(x) x * 2
extern struct { long shift; } *s;

//--- chain.c
#include "chain.h"
static double g;
void f(double *a, double *b, long n) {
  int i = 7; int k;
  #pragma omplc loopchain schedule(fuse((0), (s->shift)),  /* by tiles */ \
          tile((TWICE(n)),serial, parallel)) local X
  {
    #pragma omp parallel for private(k) reduction(+:g) schedule(static)
    #pragma omplc for domain(1:n) with(i) write X{(i)},  read A{(i-1), (i)}
    for (i = 1; i <= n; ++i) g += b[i] = a[i];
    if (n > 0)
      LOOP(1, n) a[j] = b[j];
  }
  (void)i, (void)k;
}

//--- classes.cpp
namespace one {
template <class T> struct Field {
  T *a;
  int n;
  template <class F> void each(F f) {
    int &m = n;
#pragma omplc loopchain schedule(auto)
    {
#pragma omplc for domain(0 : this->n - 1) with(i) write A{(i)}
#pragma omp parallel for private(m)
      for (int i = 0; i < n; ++i) {
        m = i;
        a[i] = f(R"(})", m);
      }
      try {
#pragma omplc for domain(0 : n - 1)
        for (int i = 0; i < n; ++i)
          if (i > 3)
            do {
              a[i] = [&] { return T(1); }();
            } while (false);
          else if (i == 2)
            a[i] = 2;
          else {
          }
      } catch (...) {
      }
    }
  }
};
} // namespace one
void f(one::Field<double> &field) {
  field.each([](const char *, int i) { return i * 2.0; });
}
