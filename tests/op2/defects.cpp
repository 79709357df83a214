// What OP2's own library or translator gets wrong, or once did: here each is right, element by element, on vectors, on
// threads and on ranks. All numbers are whole, so that the order of additions makes no difference.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain > %t.expected && FileCheck %s < %t.expected
// RUN: clang++-22 -std=c++11 -O3 -march=native -Wno-backend-plugin -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for threads in 1 2 3; do OMP_NUM_THREADS=$threads %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for size in 64 50000; do OMP_NUM_THREADS=2 %t OP_PART_SIZE=$size > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: OKL_BACKEND=seq %t > %t.found && cmp %t.expected %t.found
// RUN: for n in 1 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done
#include "op_seq.h"

#include <malloc.h>
#include <vector>

struct pair {
  int first;
  double second;
};

static void show(char const *what, op_dat dat) {
  std::vector<double> all((size_t)dat->set->size * dat->dim);
  op_fetch_data(dat, all.data());
  double sum = 0, weighted = 0;
  for (size_t k = 0; k < all.size(); k++)
    sum += all[k], weighted += all[k] * (k % 97);
  op_printf("%s %.0f %.0f\n", what, sum, weighted);
}

static void thrice(double const *w, double *a, double *b) {
  a[0] += w[0];
  a[0] += 2 * w[0];
  b[0] += w[0];
}
static void both(double const *w, double *a, double *b) {
  *a += *w;
  if (b)
    *b += *w;
}
static void add_one(double *x) { *x += 1; }
static void add_weight(double const *w, double *x) { *x = *x + *w; }
static void scaled(double const *a, double *b, double const *factor) { *b = *a * *factor; }
static void largest(double const *x, double *most) {
  if (*x > *most)
    *most = *x;
}
static void least_of(double const *x, double *least) { *least = *x < *least ? *x : *least; }
static void count_each(double const *w, float *f, int *i, uint *u, ll *l, ull *v, bool *any) {
  *f += 1, *i += 1, *u += 1, *l += *w, *v += 1;
  *any = *any || *w > 0;
}
static void by_pair(double const *w, pair *sum) {
  sum->first += 1;
  sum->second += *w;
}
static void histogram(int const *n, int *counts) { counts[*n % 100]++; }
static void three(double **x, double *sum) { *sum += x[0][0] + 10 * x[1][0] + 100 * x[2][0]; }
static void keep_last(double const *w, double *last) { *last = *w; }
static void change(double const *w, int *count) { *count = *count + (*w > 0); }

int main(int argc, char **argv) {
  // At this level every loop's arguments and types are looked at.
  op_init(argc, argv, 1);
  enum { N = 40000 };
  std::vector<int> ends(2 * N), star(N), row(3 * N);
  std::vector<double> ones(N, 1), numbers(N);
  for (int n = 0; n < N; n++) {
    ends[2 * n] = n, ends[2 * n + 1] = (n + 1) % N;
    star[n] = n % 7;
    row[3 * n] = n, row[3 * n + 1] = (n * 11) % N, row[3 * n + 2] = N - 1 - n;
    numbers[n] = n % 1000;
  }
  op_set edges = op_decl_set(N, "edges"), nodes = op_decl_set(N, "nodes"), chain = op_decl_set(1003, "chain");
  op_set links = op_decl_set(1002, "links"), hubs = op_decl_set(7, "hubs");
  op_map to = op_decl_map(edges, nodes, 2, ends.data(), "to"), hub = op_decl_map(edges, hubs, 1, star.data(), "hub");
  op_map link = op_decl_map(links, chain, 2, ends.data(), "link"), rows = op_decl_map(edges, nodes, 3, row.data(), "rows");
  op_dat weight = op_decl_dat(edges, 1, "double", ones.data(), "weight");
  op_dat node = op_decl_dat(nodes, 1, "double", (double *)NULL, "node");
  op_dat number = op_decl_dat(nodes, 1, "double", numbers.data(), "number");
  op_arg by = op_arg_dat(weight, -1, OP_ID, 1, "double", OP_READ);

  // 1: two increments of one component count both.
  op_dat a = op_decl_dat(chain, 1, "double", (double *)NULL, "a"), one = op_decl_dat(links, 1, "double", ones.data(), "one");
  op_par_loop(thrice, "thrice", links, op_arg_dat(one, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(a, 0, link, 1, "double", OP_INC), op_arg_dat(a, 1, link, 1, "double", OP_INC));
  // CHECK: 1: 4008
  show("1:", a);

  // 2: a plan made while an argument was left out is not used once it is there.
  for (int use = 0; use < 2; use++)
    op_par_loop(both, "both", edges, by, op_arg_dat(node, 0, to, 1, "double", OP_INC),
                op_opt_arg_dat(use, node, 1, to, 1, "double", OP_INC));
  // CHECK: 2: 120000
  show("2:", node);

  // 3: a part of the data is no more than what was asked for.
  double part[4] = {-1, -1, -1, -1};
  op_fetch_data_idx(number, part, 1001, 1002);
  // CHECK: 3: 1 2 -1
  op_printf("3: %g %g %g\n", part[0], part[1], part[2]);

  // 4: global arguments of every type, and of the program's own, where arguments are checked.
  float f = 0;
  int i = 0;
  uint u = 0;
  ll l = 5000000000;
  ull v = 0;
  bool any = false;
  op_par_loop(count_each, "count_each", edges, by, op_arg_gbl(&f, 1, "float", OP_INC), op_arg_gbl(&i, 1, "int", OP_INC),
              op_arg_gbl(&u, 1, "uint", OP_INC), op_arg_gbl(&l, 1, "ll", OP_INC), op_arg_gbl(&v, 1, "ull", OP_INC),
              op_arg_gbl(&any, 1, "bool", OP_RW));
  pair sum = {1, 0.5};
  op_par_loop(by_pair, "by_pair", edges, by, op_arg_gbl_char((char *)&sum, 1, "pair", sizeof sum, OP_INC));
  // CHECK: 4: 40000 40000 40000 5000040000 40000 1 40001 40000.5
  op_printf("4: %g %d %u %lld %llu %d %d %.1f\n", f, i, u, l, v, any, sum.first, sum.second);

  // 5 is the whole program: it never calls op_profile_start.

  // 7: global arguments that are written, and read and written.
  double last = 0;
  int count = 3;
  op_par_loop(keep_last, "keep_last", edges, by, op_arg_gbl(&last, 1, "double", OP_WRITE));
  op_par_loop(change, "change", edges, by, op_arg_gbl(&count, 1, "int", OP_RW));
  // CHECK: 7: 1 40003
  op_printf("7: %g %d\n", last, count);

  // 8: many targets in a block (OP_PART_SIZE), more colours than a word has bits, no memory that is left at each call.
  op_dat at_hub = op_decl_dat(hubs, 1, "double", (double *)NULL, "at_hub");
  op_arg increment = op_arg_dat(at_hub, 0, hub, 1, "double", OP_INC);
  op_par_loop(add_weight, "to_hubs", edges, by, increment);
  // CHECK: 8: 40000
  show("8:", at_hub);
  size_t before = 0;
  for (int round = 0; round < 2000; round++) {
    op_par_loop(scaled, "scaled", hubs, op_arg_dat(at_hub, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(at_hub, -1, OP_ID, 1, "double", OP_WRITE), op_arg_gbl(&ones[0], 1, "double", OP_READ));
    if (round == 100)
      before = mallinfo2().uordblks;
  }
  // CHECK: leaks 0
  op_printf("leaks %d\n", mallinfo2().uordblks > before + 20000);

  // 9: elements of one block that read and write the same.
  op_par_loop(add_weight, "read_write", edges, by, op_arg_dat(at_hub, 0, hub, 1, "double", OP_RW));
  // CHECK: 9: 80000
  show("9:", at_hub);

  // 11: wide global arguments, and pointers to the elements of three columns.
  int counts[100] = {0};
  op_par_loop(histogram, "histogram", edges, op_arg_idx(-1, OP_ID), op_arg_gbl(counts, 100, "int", OP_INC));
  double total = 0;
  op_par_loop(three, "three", edges, op_arg_dat(number, -3, rows, 1, "double", OP_READ),
              op_arg_gbl(&total, 1, "double", OP_INC));
  // CHECK: 11: 400 400 2217780000
  op_printf("11: %d %d %.0f\n", counts[0], counts[99], total);

  // #109: one kernel with different arguments: another map, another set, no map.
  op_par_loop(add_one, "add_one", nodes, op_arg_dat(node, -1, OP_ID, 1, "double", OP_RW));
  op_par_loop(add_one, "add_one", edges, op_arg_dat(node, 1, to, 1, "double", OP_INC));
  op_par_loop(add_one, "add_one", edges, op_arg_dat(node, 2, rows, 1, "double", OP_INC));
  op_par_loop(add_one, "add_one", links, op_arg_dat(a, 1, link, 1, "double", OP_INC));
  op_par_loop(add_one, "add_one", hubs, op_arg_dat(at_hub, -1, OP_ID, 1, "double", OP_RW));
  // CHECK: #109: 240000
  show("#109:", node);
  // CHECK: #109: 5010
  show("#109:", a);
  // CHECK: #109: 80007
  show("#109:", at_hub);

  // #140: the largest value on threads. #250: the least one, by an assignment in any case.
  double most = -1, least = 1e9;
  op_par_loop(largest, "largest", nodes, op_arg_dat(number, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, "double", OP_MAX));
  op_par_loop(least_of, "least_of", nodes, op_arg_dat(number, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&least, 1, "double", OP_MIN));
  // CHECK: #140: 999 #250: 0
  op_printf("#140: %g #250: %g\n", most, least);
  op_exit();
  return 0;
}
