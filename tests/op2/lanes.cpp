// Loops that compute several elements at a time, and loops that must not: all results, bit by bit, are those of
// the program compiled without the plugin. Sets of all small sizes, types, numbers of components and ways of
// access; maps lead to the same element often. On several threads increments are added in another order, which
// is the same for any number of them: results agree but for rounding. So they do on several ranks.
//
// RUN: clang++-22 -std=c++17 -O2 -ffp-contract=off -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t write %t.values > %t.expected
// RUN: FileCheck %s < %t.expected
// RUN: OMP_NUM_THREADS=3 %t > %t.found && cmp %t.expected %t.found
// RUN: clang++-22 -std=c++17 -O1 -ffp-contract=off -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t > %t.found && cmp %t.expected %t.found
// RUN: clang++-22 -std=c++17 -O3 -march=native -ffp-contract=off -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t > %t.found && cmp %t.expected %t.found
// RUN: OP_AUTO_SOA=1 %t > %t.found && cmp %t.expected %t.found
// RUN: OMP_NUM_THREADS=2 %t compare %t.values > %t.two
// RUN: OP_AUTO_SOA=1 OMP_NUM_THREADS=2 %t compare %t.values > %t.soa
// RUN: OMP_NUM_THREADS=5 %t compare %t.values > %t.five && cmp %t.two %t.five
// RUN: for n in 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t compare %t.values > %t.ranks || exit 1; done
// RUN: OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t compare %t.values > %t.ranks
// RUN: OMP_NUM_THREADS=4 %t compare %t.values OP_PART_SIZE=10 > %t.parts && not cmp -s %t.two %t.parts
#include "op_seq.h"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

static unsigned long long state = 1;
static unsigned random_number(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

template <class T> struct name;
template <> struct name<double> { static constexpr char const *text = "double"; };
template <> struct name<float> { static constexpr char const *text = "float"; };
template <> struct name<int> { static constexpr char const *text = "int"; };
template <> struct name<unsigned> { static constexpr char const *text = "uint"; };
template <> struct name<long long> { static constexpr char const *text = "ll"; };
template <> struct name<unsigned long long> { static constexpr char const *text = "ull"; };
template <> struct name<bool> { static constexpr char const *text = "bool"; };

// Fractions, so that the order of additions shows.
template <class T> static T some() { return (T)(random_number(2000) / (T)7 - (T)100); }
template <> bool some<bool>() { return random_number(2); }

static op_set elements, targets;
static op_map to, pairs, others;

// All results of this program, and those that they shall be like.
static std::vector<double> values, expected;
static bool compares, depends_on_order;

static void compare(char const *what, size_t begin, double precision) {
  double largest = 0;
  for (size_t k = begin; k < values.size(); k++)
    largest = fmax(largest, fabs(expected.at(k)));
  for (size_t k = begin; k < values.size(); k++)
    if (!(fabs(values[k] - expected[k]) <= precision * largest) && !(std::isnan(values[k]) && std::isnan(expected[k]))) {
      op_printf("%s: %a instead of %a\n", what, values[k], expected[k]);
      exit(1);
    }
}

template <class T> static void show(char const *what, T const *data, size_t count) {
  size_t const begin = values.size(), bytes = count * sizeof(T);
  if (!depends_on_order)
    values.insert(values.end(), data, data + count);
  if (compares)
    compare(what, begin, std::is_same<T, double>() ? 1e-12 : std::is_same<T, float>() ? 1e-4 : 0);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ ((unsigned char const *)data)[k]) * 0x100000001b3;
  op_printf("%s %d %d %016llx\n", what, elements->size, targets->size, (unsigned long long)hash);
}

template <class T> struct data {
  op_dat dat;
  int count;
  data(op_set set, int dim) : count(set->size * dim) {
    std::unique_ptr<T[]> start(new T[count + 1]);
    for (int k = 0; k < count; k++)
      start[k] = some<T>();
    dat = op_decl_dat(set, dim, name<T>::text, start.get(), "data");
  }
  void show(char const *what) const {
    std::unique_ptr<T[]> values(new T[count + 1]);
    op_fetch_data(dat, values.get());
    ::show(what, values.get(), count);
  }
};

double factor = 1.5, table[3] = {0.25, 0.5, 0.75};

template <class T, int D> static void mean(T const *a, T const *b, T const *own, T *out) {
  for (int k = 0; k < D; k++)
    out[k] = (T)((a[k] + b[k] * own[0]) * (T)3 - own[D - 1] * a[D - 1 - k]);
}

template <class T, int D> static void flux(T const *a, T const *b, T const *own, T *left, T *right) {
  for (int k = 0; k < D; k++) {
    T f = a[k] * own[k] - b[k] * own[0];
    left[k] += f * (T)2;
    right[k] -= f;
  }
}

template <class T, int D> static void kinds_of() {
  data<T> node(targets, D), own(elements, D), out(elements, D), sums(targets, D);
  op_par_loop(mean<T, D>, "mean", elements, op_arg_dat(node.dat, 0, to, D, name<T>::text, OP_READ),
              op_arg_dat(node.dat, 1, to, D, name<T>::text, OP_READ),
              op_arg_dat(own.dat, -1, OP_ID, D, name<T>::text, OP_READ),
              op_arg_dat(out.dat, -1, OP_ID, D, name<T>::text, OP_WRITE));
  out.show("mean");
  op_par_loop(flux<T, D>, "flux", elements, op_arg_dat(node.dat, 0, to, D, name<T>::text, OP_READ),
              op_arg_dat(node.dat, 1, to, D, name<T>::text, OP_READ),
              op_arg_dat(own.dat, -1, OP_ID, D, name<T>::text, OP_READ),
              op_arg_dat(sums.dat, 0, to, D, name<T>::text, OP_INC),
              op_arg_dat(sums.dat, 2, to, D, name<T>::text, OP_INC));
  sums.show("flux");
}

template <class T> static void dimensions_of() {
  kinds_of<T, 1>();
  kinds_of<T, 2>();
  kinds_of<T, 3>();
  kinds_of<T, 4>();
  kinds_of<T, 8>();
  kinds_of<T, 11>();
}

static void several(double const *const *x, double **sum, double const *own) {
  double area = (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[2][0] - x[0][0]) * (x[1][1] - x[0][1]);
  for (int k = 0; k < 2; k++) {
    sum[k][0] += area * own[0] / 3;
    sum[k][1] -= area * x[k][1] * 2;
  }
}

static void branches(double const *a, double const *b, int const *kind, double *out, double *sum) {
  if (*kind % 5 == 0)
    return;
  double x = a[0] > b[0] ? a[0] - b[0] : sqrt(b[0] - a[0] + 1);
  switch (*kind % 4) {
  case 0:
    x += a[1] / (b[1] == 0 ? 1 : b[1]);
    break;
  case 1:
    if (a[1] > 0 && b[1] > 0)
      x = fmax(x, log(a[1]) * pow(b[1], 0.3));
    else
      out[1] = -x;
    break;
  case 2:
    x = fabs(x) * exp(-b[1] / 200) + cos(a[0]);
    break;
  default:
    out[0] = table[1] * factor;
    sum[1] += x;
  }
  if (x > 50) {
    sum[0] += x * table[2];
    out[1] = x + 1;
  } else {
    sum[0] -= factor;
  }
  out[0] += x;
}

static void divides(int const *a, int const *b, int *out) {
  *out = *b != 0 ? *a / *b + *a % *b : -1;
}

static void mixed(double const *a, float const *b, int const *c, bool const *d, long long *e, float *f) {
  double x = *a * *b + *c;
  *e += *d ? (long long)x : *c;
  *f = (float)x - *b;
}

static void locals(double const *a, double const *b, double *out) {
  double work[4], copy[4] = {0};
  memcpy(work, a, sizeof work);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      copy[i] += work[j] * b[(i + j) % 4] / (1 + j);
  for (int i = 0; i < 4; i++)
    out[i] = copy[3 - i] + work[i];
}

static void write_through(double const *a, double *out) {
  out[0] = a[0] * a[1] + a[2] * a[3];
  out[1] = a[0] / (a[1] * a[1] + 1);
}
static void write_some(double const *a, double *out) {
  if (a[0] > 0)
    out[0] = a[0] * a[1] + a[2] * a[3] / 3;
}
static void write_one(double const *a, double *out) { out[1] = a[0] * a[1] + a[2] * a[3] / 3; }
static void smallest(double const *a, double *out) {
  double x = a[0] * a[1] - a[2] * 3 + a[3] * a[3] / 7;
  if (x < out[0])
    out[0] = x + out[1] / 16;
}
static void assigns(double const *a, double *out) {
  out[0] = a[0] * a[1] - a[2] * 3 + a[3] * a[3] / 7;
}

// Sums of whole numbers do not depend on the order.
static void reduce(double const *a, int const *b, double const *weight, double *sum, int *count,
                   double *least, double *most, int *first, unsigned *last) {
  double x = a[0] * weight[0] + a[1] * weight[1] - a[2] * weight[2];
  sum[0] += floor(x);
  if (x > 0)
    sum[2] += floor(x / 2);
  *count += *b & 3;
  *least = fmin(*least, x);
  if (x > *most)
    *most = x;
  *first = *b < *first ? *b : *first;
  *last = (unsigned)*b > *last ? (unsigned)*b : *last;
}

static void where(double const *x, int const *n, double *most, int *at) {
  double y = x[0] * x[0] - x[1] * 3 + x[2] / 7;
  if (y > *most) {
    *most = y;
    *at = *n;
  }
}

static void histogram(int const *n, int const *kind, int *counts) {
  counts[(*n * 7 + *kind) & 127] += *kind & 15;
}

static void numbers(int const *n, int const *node, double const *a, double *out) {
  *out = (*n * 3.5 + *node) * a[0] + a[1] * a[2];
}

static void optional(double const *a, double const *extra, double *out) {
  out[0] = a[0] * a[1] + a[2] / 3 + a[3] * a[1];
  if (extra)
    out[0] += extra[0] * a[2];
}

static void itself(double const *a, double *b) {
  for (int k = 0; k < 4; k++)
    b[k] += (a[3 - k] * 0.5 + b[k] * 0.25) / 3;
}

// A finite element: its matrix, summed over places, and what it adds to three of its corners and to itself. Loops in
// loops, whose turns are constant, or depend on those around, or end early.
static void stiffness(double const *const *x, double const *own, double *matrix, double **sum, int *last) {
  double const weight[3] = {0.25, 0.5, 0.25};
  double local[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      local[i][j] = i == j ? own[i] : 0;
  for (int place = 0; place < 3; place++) {
    double slope[4];
    for (int i = 0; i < 4; i++)
      slope[i] = x[i][0] * weight[place] + x[(i + place) % 4][1];
    for (int i = 0; i < 4; i++)
      for (int j = 0; j <= i; j++)
        local[i][j] += weight[place] * slope[i] * slope[j];
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++)
      matrix[4 * i + j] = local[i < j ? j : i][i < j ? i : j];
    double part = 0;
    for (int j = 0; j < 4; j++)
      part += matrix[4 * i + j] * own[j];
    sum[i][0] += part;
    sum[i][1] -= own[i] > 0 ? local[i][0] : local[3][i];
  }
  *last = -1;
  for (int i = 0; i < 10; i++) {
    if (matrix[i] * own[i % 4] > 1000)
      break;
    *last = i;
  }
}
static void grows(double const *a, int const *count, double *out) {
  out[0] = 0;
  for (int k = 0; k < *count % 7; k++)
    out[0] += a[k % 4] / (k + 1);
}

static void shapes() {
  data<double> node(targets, 2), ends(targets, 2), four(elements, 4), two(elements, 2), one(elements, 1),
      short_lived(elements, 2), sums(targets, 2);
  data<double> out(elements, 4), big(targets, 4);
  data<int> kind(elements, 1), quotient(elements, 1);
  data<float> single(elements, 1), result(elements, 1);
  data<bool> flag(elements, 1);
  data<long long> total(targets, 1);
  op_par_loop(several, "several", elements, op_arg_dat(node.dat, -3, to, 2, "double", OP_READ),
              op_arg_dat(sums.dat, -2, to, 2, "double", OP_INC),
              op_arg_dat(one.dat, -1, OP_ID, 1, "double", OP_READ));
  sums.show("several");
  op_par_loop(branches, "branches", elements, op_arg_dat(node.dat, 0, pairs, 2, "double", OP_READ),
              op_arg_dat(node.dat, 1, pairs, 2, "double", OP_READ),
              op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(two.dat, -1, OP_ID, 2, "double", OP_RW),
              op_arg_dat(sums.dat, 1, pairs, 2, "double", OP_INC));
  two.show("branches");
  sums.show("branches");
  op_par_loop(divides, "divides", elements, op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(quotient.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(quotient.dat, -1, OP_ID, 1, "int", OP_RW));
  quotient.show("divides");
  op_par_loop(mixed, "mixed", elements, op_arg_dat(one.dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(single.dat, -1, OP_ID, 1, "float", OP_READ),
              op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(flag.dat, -1, OP_ID, 1, "bool", OP_READ),
              op_arg_dat(total.dat, 1, pairs, 1, "ll", OP_INC),
              op_arg_dat(result.dat, -1, OP_ID, 1, "float", OP_WRITE));
  total.show("mixed");
  result.show("mixed");
  op_par_loop(locals, "locals", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(big.dat, 1, pairs, 4, "double", OP_READ),
              op_arg_dat(out.dat, -1, OP_ID, 4, "double", OP_WRITE));
  out.show("locals");
  // Which element comes last makes a difference here.
  if (!compares) {
    depends_on_order = true;
    op_par_loop(write_through, "write_through", elements,
                op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(ends.dat, 0, pairs, 2, "double", OP_WRITE));
    ends.show("write_through");
    op_par_loop(write_some, "write_some", elements,
                op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(ends.dat, 0, pairs, 2, "double", OP_WRITE));
    op_par_loop(write_one, "write_one", elements,
                op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(ends.dat, 1, pairs, 2, "double", OP_WRITE));
    ends.show("write_some");
    op_par_loop(smallest, "smallest", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(ends.dat, 1, pairs, 2, "double", OP_RW));
    ends.show("smallest");
    op_par_loop(assigns, "assigns", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(sums.dat, 1, pairs, 2, "double", OP_INC));
    sums.show("assigns");
    depends_on_order = false;
  }
  double weight[3] = {1.25, 2.5, 0.125}, sum[3] = {1, 2, 3}, least = 30, most = -30;
  int count = 7, first = 50;
  unsigned last = 3;
  op_par_loop(reduce, "reduce", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_gbl(weight, 3, "double", OP_READ), op_arg_gbl(sum, 3, "double", OP_INC),
              op_arg_gbl(&count, 1, "int", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN),
              op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_gbl(&first, 1, "int", OP_MIN),
              op_arg_gbl(&last, 1, "uint", OP_MAX));
  op_printf("reduce %g %g %g %d %a %a %d %u\n", sum[0], sum[1], sum[2], count, least, most, first, last);
  int counts[128] = {1, 2, 3};
  op_par_loop(histogram, "histogram", elements, op_arg_idx(-1, OP_ID),
              op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ), op_arg_gbl(counts, 128, "int", OP_INC));
  ::show("histogram", counts, 128);
  int at = -1;
  most = -1e9;
  op_par_loop(where, "where", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_idx(-1, OP_ID), op_arg_gbl(&most, 1, "double", OP_MAX),
              op_arg_info(&at, 1, "int", 2));
  op_printf("where %a %d\n", most, at);
  op_par_loop(numbers, "numbers", elements, op_arg_idx(-1, OP_ID), op_arg_idx(1, pairs),
              op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(one.dat, -1, OP_ID, 1, "double", OP_WRITE));
  one.show("numbers");
  for (int use = 0; use < 2; use++)
    op_par_loop(optional, "optional", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
                op_opt_arg_dat(use, node.dat, 0, pairs, 2, "double", OP_READ),
                op_arg_dat(one.dat, -1, OP_ID, 1, "double", OP_WRITE));
  one.show("optional");
  op_par_loop(itself, "itself", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_RW));
  four.show("itself");
  // The compiler sees the same variable twice, with the same column.
  op_map changing = others;
  op_arg before = op_arg_dat(node.dat, 1, changing, 2, "double", OP_READ);
  changing = pairs;
  op_arg after = op_arg_dat(node.dat, 1, changing, 2, "double", OP_READ);
  op_par_loop(mean<double, 2>, "two maps", elements, before, after,
              op_arg_dat(two.dat, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(short_lived.dat, -1, OP_ID, 2, "double", OP_WRITE));
  short_lived.show("two maps");
  op_par_loop(grows, "grows", elements, op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(kind.dat, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(one.dat, -1, OP_ID, 1, "double", OP_WRITE));
  one.show("grows");
  data<double> matrix(elements, 16), corner(targets, 2), load(targets, 2);
  data<int> end(elements, 1);
  op_par_loop(stiffness, "stiffness", elements, op_arg_dat(corner.dat, -4, to, 2, "double", OP_READ),
              op_arg_dat(four.dat, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(matrix.dat, -1, OP_ID, 16, "double", OP_WRITE),
              op_arg_dat(load.dat, -4, to, 2, "double", OP_INC), op_arg_dat(end.dat, -1, OP_ID, 1, "int", OP_WRITE));
  matrix.show("stiffness");
  load.show("load");
  end.show("end");
}

static void roots(double const *a, double *out) { *out = sqrt(a[0]) + a[1] * 3 + a[2] / 7; }

static void says_what_went_wrong() {
  op_set set = op_decl_set(40, "set");
  double values[120] = {0};
  op_dat out = op_decl_dat(set, 1, "double", (double *)NULL, "out");
  for (int bad = -1; bad < 40; bad += 20) {
    if (bad >= 0)
      values[3 * bad] = -1;
    op_dat a = op_decl_dat(set, 3, "double", values, "a");
    errno = 0;
    op_par_loop(roots, "roots", set, op_arg_dat(a, -1, OP_ID, 3, "double", OP_READ),
                op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE));
    // CHECK: errno 0
    // CHECK-NEXT: errno 1
    // CHECK-NEXT: errno 1
    op_printf("errno %d\n", errno == EDOM);
  }
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  compares = argc > 2 && !strcmp(argv[1], "compare");
  if (compares) {
    FILE *file = fopen(argv[2], "rb");
    for (double x; fread(&x, sizeof x, 1, file) == 1;)
      expected.push_back(x);
    fclose(file);
  }
  if (!compares)
    says_what_went_wrong();
  int const sizes[] = {0, 1, 3, 4, 5, 8, 9, 16, 17, 31, 100, 1000, 5003};
  for (int size : sizes) {
    elements = op_decl_set(size, "elements");
    targets = op_decl_set(size / 2 + 1, "targets");
    std::vector<int> map(4 * size + 1);
    // Neighbours meet often, and an element may lead to one target twice.
    for (int k = 0; k < 4 * size; k++)
      map[k] = random_number(3) ? k / 8 % targets->size : random_number(targets->size);
    to = op_decl_map(elements, targets, 4, map.data(), "to");
    pairs = op_decl_map(elements, targets, 2, map.data(), "pairs");
    others = op_decl_map(elements, targets, 2, map.data() + 2 * size, "others");
    dimensions_of<double>();
    dimensions_of<float>();
    dimensions_of<int>();
    kinds_of<unsigned, 4>();
    kinds_of<long long, 3>();
    shapes();
  }
  if (argc > 2 && !compares) {
    FILE *file = fopen(argv[2], "wb");
    fwrite(values.data(), sizeof(double), values.size(), file);
    fclose(file);
  }
  op_exit();
  return 0;
}
