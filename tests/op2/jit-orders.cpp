// Loops whose versions come and go in random orders, for values that change and come back, beside exceptions, processes that are
// forked while versions are made, libraries that are closed meanwhile, and an LLVM of the program's: results are those of the
// code as it was compiled ahead of time, with a cache that is empty, that has all, and that has room for little.
//
// RUN: %okl-c++ -std=c++11 -O3 --okl-jit -DLIBRARY -shared -fPIC %s -o %t.so
// RUN: %okl-c++ -std=c++11 -O3 --okl-jit %s -ldl -o %t
// RUN: rm -rf %t.cache && export OMP_NUM_THREADS=1 OKL_JIT_CACHE=%t.cache && OKL_JIT=0 %t 1 > %t.0 && for way in 1 sync turns 1; do OKL_JIT=$way %t 1 > %t.1 && cmp %t.0 %t.1 || exit 1; done && test $(cat %t.cache/* | wc -c) -gt 65536
// RUN: export OMP_NUM_THREADS=1 OKL_JIT_CACHE=%t.cache && OKL_JIT=0 %t 3 %t.so > %t.0 && OKL_JIT=1 %t 3 %t.so > %t.1 && cmp %t.0 %t.1 && OKL_JIT_CACHE_SIZE=64K OKL_JIT=sync %t 3 %t.so > %t.1 && cmp %t.0 %t.1 && test $(cat %t.cache/* | wc -c) -le 65536
#include "op_seq.h"

#include <cmath>
#include <stdexcept>

#ifdef LIBRARY
// A loop of a library that is closed when it has run.
static double own;

static void shifted(double const *x, double *y) { y[0] += own * x[0] + sin(own); }

extern "C" void run(op_set set, op_dat x, op_dat y, double value) {
  own = value;
  for (int n = 0; n < 3; n++)
    op_par_loop(shifted, "shifted", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW));
}

#else
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

double scale, table[3];
int steps;
static int divisor;
static float bias;

static void march(double const *x, double *y) {
  double a = x[0];
  for (int n = 0; n < steps; n++)
    a = a * scale + table[n % 3] * x[1];
  y[0] = fmod(a, 100);
  y[1] = sqrt(fabs(a)) / scale + bias;
}

static void flux(double const *a, double const *b, double *out, double *in) {
  double const f = scale * (a[0] - b[0]) + table[1] * a[1] * b[1];
  out[0] += f, out[1] += table[2];
  in[0] -= f, in[1] += f * bias;
}

static void count(int const *k, int *l, double const *y) {
  int n = k[0];
  for (int s = 0; s < steps; s++)
    n = n / divisor + 3 * s + (n % divisor);
  l[0] = n + (y[0] < scale);
}

static void total(double const *y, int const *l, double *sum, double *least, int *all) {
  *sum += y[0] * scale + y[1];
  *least = fmin(*least, y[1]);
  *all += l[0] & 1023;
}

static void checked(double const *x, double *y, double const *most) {
  if (x[0] > *most)
    throw std::range_error("too much");
  y[0] = 0.5 * y[0] + scale * x[0];
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  unsigned state = atoi(argv[1]) * 2654435761u;
  char const *library = argc > 2 ? argv[2] : nullptr;
  auto below = [&](unsigned most) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % most;
  };
  // The program's own, for all that is loaded later.
  if (library)
    if (void *llvm = dlopen("libLLVM.so.22.1", RTLD_NOW | RTLD_GLOBAL)) {
      void *context = reinterpret_cast<void *(*)()>(dlsym(llvm, "LLVMContextCreate"))();
      reinterpret_cast<void (*)(void *)>(dlsym(llvm, "LLVMContextDispose"))(context);
    }
  int const size = 57;
  std::vector<int> edges, numbers;
  std::vector<double> start;
  for (int n = 0; n < size; n++) {
    edges.push_back(n), edges.push_back((7 * n + 3) % size);
    numbers.push_back(1000 - 37 * n);
    start.push_back(1.0 / (n + 1)), start.push_back(0.3 * n - 7);
  }
  op_set nodes = op_decl_set(size, "nodes"), sides = op_decl_set(size, "sides");
  op_map ends = op_decl_map(sides, nodes, 2, edges.data(), "ends");
  op_dat x = op_decl_dat(nodes, 2, "double", start.data(), "x");
  op_dat y = op_decl_dat(nodes, 2, "double", start.data(), "y");
  op_dat k = op_decl_dat(nodes, 1, "int", numbers.data(), "k");
  op_dat l = op_decl_dat(nodes, 1, "int", numbers.data(), "l");
  op_partition("PTSCOTCH", "KWAY", nodes, ends, NULL);
  double const scales[] = {2, 1, 0.5, 1.1, -0.7};
  int const divisors[] = {1, 7, 16, -3};
  auto show = [&](char const *who) {
    double sum = 0, least = 1e30;
    int all = 0;
    op_par_loop(total, "total", nodes, op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(l, -1, OP_ID, 1, "int", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                op_arg_gbl(&least, 1, "double", OP_MIN), op_arg_gbl(&all, 1, "int", OP_INC));
    op_printf("%s %a %a %d\n", who, sum, least, all);
  };
  auto loop = [&](unsigned which) {
    switch (which) {
    case 0:
    case 1:
      op_par_loop(march, "march", nodes, op_arg_dat(which ? y : x, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(which ? x : y, -1, OP_ID, 2, "double", OP_WRITE));
      break;
    case 2:
      op_par_loop(flux, "flux", sides, op_arg_dat(x, 0, ends, 2, "double", OP_READ),
                  op_arg_dat(x, 1, ends, 2, "double", OP_READ), op_arg_dat(y, 0, ends, 2, "double", OP_INC),
                  op_arg_dat(y, 1, ends, 2, "double", OP_INC));
      break;
    case 3:
      op_par_loop(count, "count", nodes, op_arg_dat(k, -1, OP_ID, 1, "int", OP_READ),
                  op_arg_dat(l, -1, OP_ID, 1, "int", OP_WRITE), op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ));
      break;
    case 4: {
      double most = below(2) ? 1e300 : -1e300;
      try {
        op_par_loop(checked, "checked", nodes, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                    op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW), op_arg_gbl(&most, 1, "double", OP_READ));
      } catch (std::range_error const &) {
        op_printf("caught\n");
      }
      break;
    }
    }
  };
  scale = 2, divisor = 1, steps = 3;
  for (int n = 0; n < 120; n++) {
    if (below(3) == 0)
      scale = scales[below(5)];
    if (below(6) == 0)
      table[below(3)] = 0.1 * below(2);
    if (below(4) == 0)
      steps = below(5), divisor = divisors[below(4)];
    if (below(20) == 0)
      bias = below(50);
    unsigned const which = below(5);
    for (unsigned times = 1 + below(3); times; times--)
      loop(which);
    if (below(4) == 0)
      show("so far");
    if (library && below(8) == 0) {
      void *opened = dlopen(library, RTLD_NOW);
      auto run = reinterpret_cast<void (*)(op_set, op_dat, op_dat, double)>(dlsym(opened, "run"));
      run(nodes, x, y, scale);
      dlclose(opened);
    }
    if (library && below(8) == 0) {
      fflush(stdout);
      if (fork() == 0) {
        // It is ended if it waits for what only the first process has.
        alarm(60);
        for (unsigned more = 0; more < 12; more++)
          loop(more % 4);
        show("forked");
        exit(0);
      }
      int status;
      wait(&status);
      if (status != 0)
        op_printf("a forked process ended with %d\n", status);
    }
  }
  show("in the end");
  op_exit();
}
#endif
