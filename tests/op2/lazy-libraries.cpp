// Loops that wait, of libraries that are closed, when none of their loops waits any more, and others opened in their place; and
// variables of which one is a part of the other. Results are those of loops that run at once.
//
// RUN: export CXX="%okl-c++ -std=c++11 -O3 --okl-jit"; for n in 1 2; do $CXX -shared -fPIC -DLIBRARY=$n %s -o %t.$n.so || exit 1; done; $CXX -DPART -c %s -o %t.o && $CXX %s %t.o -o %t -ldl
// RUN: export OKL_JIT_CACHE=0 OKL_JIT=sync; for what in one many parts; do OKL_LAZY=0 %t $what %t > %t.0 && OKL_LAZY=1 %t $what %t > %t.1 && cmp %t.0 %t.1 || exit 1; done
#include "op_seq.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

#define LOOP(kernel, x, y) op_par_loop(kernel, #kernel, s, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW))

#if defined(LIBRARY)
static double factor = LIBRARY;
static void own(double const *x, double *y) { *y = *y * 0.5 + factor * LIBRARY * *x; }
extern "C" void run(op_set s, op_dat x, op_dat y) { LOOP(own, x, y); }
#elif defined(PART)
double whole[2] = {1, 2};
extern double part[1] __attribute__((alias("whole")));
static void of_part(double const *x, double *y) { *y = *y * 0.25 + part[0] * *x; }
void run_part(op_set s, op_dat x, op_dat y) { LOOP(of_part, x, y); }
#else
extern double whole[2];
void run_part(op_set s, op_dat x, op_dat y);
static void of_whole(double const *x, double *y) { *y = *y * 0.5 + (whole[0] + whole[1]) * *x; }
static void plain(double const *x, double *y) { *y = *y * 0.4 + 0.1 * *x; }

int main(int count, char **arguments) {
  op_init(count, arguments, 0);
  std::vector<double> values(900, 0.5);
  op_set s = op_decl_set(900, "s");
  op_dat x = op_decl_dat(s, 1, "double", values.data(), "x"), y = op_decl_dat(s, 1, "double", values.data(), "y");
  if (!strcmp(arguments[1], "parts")) {
    for (int n = 0; n < 4; n++) {
      LOOP(of_whole, x, y);
      run_part(s, y, x);
      whole[0] += 10, whole[1] += 20;
    }
    printf("%a %a\n", whole[0], whole[1]);
  } else {
    for (char const *number : {".1.so", ".2.so", ".1.so"}) {
      void *const library = dlopen((arguments[2] + std::string(number)).c_str(), RTLD_NOW);
      auto const run = (void (*)(op_set, op_dat, op_dat))dlsym(library, "run");
      run(s, x, y);
      LOOP(plain, y, x);
      for (int n = 0; !strcmp(arguments[1], "many") && n < 70; n++) {
        LOOP(plain, x, y);
        LOOP(plain, y, x);
      }
      if (strcmp(arguments[1], "many"))
        op_fetch_data(x, values.data());
      dlclose(library);
    }
  }
  op_fetch_data(x, values.data());
  printf("%a\n", values[3]);
  op_exit();
}
#endif
