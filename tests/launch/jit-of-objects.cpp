// Regions in functions of objects are compiled once more for the numbers that the object has: where nothing that they write may
// be such a number, and where it is sure to be there. So are the numbers in objects that are variables of the program, and behind
// pointers in such. What `okl::jit_constant` gives is known whatever a region writes.
//
// RUN: %okl-c++ -O1 -DELSEWHERE -c %s -o %t.o && %okl-c++ -O3 -fopenmp --okl-target=cpu --okl-jit -Rpass-missed=okl %s %t.o -o %t 2>&1 | FileCheck --check-prefix=MISSED %s
// RUN: export OMP_NUM_THREADS=1 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck %s < %t.told
// RUN: export OMP_NUM_THREADS=2 && OKL_JIT=0 %t > %t.0 && OKL_JIT=turns %t > %t.1 && cmp %t.0 %t.1
// RUN: not %okl-c++ -fsyntax-only -DWRONG %s 2>&1 | FileCheck --check-prefix=WRONG %s
// Ranks have no version of a region that handles exceptions.
// RUN: (echo 'void calls(int);'; echo 'void runs(int n) {'; echo '#pragma omp parallel'; echo 'try { calls(n); } catch (...) {} }') | %okl-c++ -x c++ - -c -O1 -g -fopenmp --okl-jit -Rpass=okl -o %t.o 2>&1 | FileCheck --check-prefix=RANKS %s
// RANKS: <stdin>:3:1: remark: region may be compiled once more at run time, where one process runs it
struct Config {
  int order, count;
  double weight, *values;
  char text[512];
};
#ifdef ELSEWHERE
extern Config elsewhere, replaced;
extern const Config constant;
Config elsewhere{2, 80, 0.5, nullptr, ""}, replaced{4, 70, 0.25, nullptr, ""};
const Config constant{5, 60, 0.125, nullptr, ""};
#else
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <okl_jit.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WRONG
// WRONG: okl::jit_constant takes a number; of an object, give it the members that are to be known
// WRONG: jit-of-objects.cpp:[[# @LINE + 1]]:{{.*}}okl::jit_constant<const char *>
auto text = okl::jit_constant("text");
#endif

struct Solver {
  int order, count;
  double scale;
  double *in, *out;
  int *numbers;
  void run();
  void number();
  void scaled();
};

// Both `int`s: `double`s are stored. Not `scale`.
// CHECK:      okl: versions of Solver::run
// CHECK-NEXT: okl:   2 values: made
// CHECK-NEXT: okl:   2 values: made
void Solver::run() {
#pragma omp parallel for
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int k = 0; k < order; k++)
      sum += in[i + k] * scale;
    out[i] = sum;
  }
}

// It may write them.
// CHECK:      okl: versions of Solver::number
// CHECK-NEXT: okl:   0 values: made
void Solver::number() {
#pragma omp parallel for
  for (int i = 0; i < 8; i++)
    if (numbers[i] != order)
      numbers[i] = order;
}

// CHECK:      okl: versions of Solver::scaled
// CHECK-NEXT: okl:   2 values: made
void Solver::scaled() {
  const double factor = okl::jit_constant(scale);
#pragma omp parallel for
  for (int i = 0; i < count; i++)
    out[i] = in[i] * factor;
}

// An object that need not be there; and one of the program's that is written by its name.
// CHECK:      okl: versions of maybe
// CHECK-NEXT: okl:   1 values: made
static void maybe(const Solver *one, double *out, int some) {
#pragma omp parallel for firstprivate(one, some)
  for (int i = 0; i < 8; i++)
    if (i < some)
      out[i] += one->order;
}

static Solver shared;
// CHECK:      okl: versions of changes
// CHECK-NEXT: okl:   0 values: made
static void __attribute__((noinline)) changes(Solver *one, double *out) {
#pragma omp parallel firstprivate(one)
#pragma omp for
  for (int i = 0; i < 8; i++) {
    if (i == 0)
#pragma omp atomic
      shared.order += 2;
    out[i] = i == 0 ? one->order : 1;
  }
}

// Both `int`s, through a pointer that the threads share: one of them is sure to be read, the other one is beside it. What is on
// another page is not looked at.
// CHECK:      okl: versions of derive(Solver*)
// CHECK-NEXT: okl:   2 values: made {{.*}}, 3 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 3 calls
// CHECK-NEXT: okl:   6 calls in which a value may not have been there
static void __attribute__((noinline)) derive(Solver *solver) {
#pragma omp parallel for
  for (int i = 0; i < solver->count; i++) {
    double sum = 0;
    for (int k = 0; k < solver->order; k++)
      sum += solver->in[i + k];
    solver->out[i] = sum;
  }
}

// A pointer that may be none, one that the region changes, and a number that it writes by another name.
// CHECK:      okl: versions of perhaps
// CHECK-NEXT: okl:   1 values: made
static void __attribute__((noinline)) perhaps(const Solver *one, double *out, int some) {
#pragma omp parallel for
  for (int i = 0; i < some; i++)
    out[i] += one->order;
}

// CHECK:      okl: versions of moves
// CHECK-NEXT: okl:   0 values: made
static double __attribute__((noinline)) moves(const Solver *one, const Solver *two) {
  double sum = 0;
#pragma omp parallel num_threads(1)
  {
    sum += one->order;
#pragma omp single
    one = two;
    sum += one->order;
  }
  return sum;
}

// CHECK:      okl: versions of names
// CHECK-NEXT: okl:   0 values: made
static double __attribute__((noinline)) names(const Solver *one, int *other) {
  double sum = 0;
#pragma omp parallel num_threads(1)
  {
    sum += one->order;
    *other += 5;
    sum += one->order * 3;
  }
  return sum;
}

// What is there of an object that has a hole is not looked for between what is sure to be read.
struct Sparse {
  int first;
  char hole[1 << 16];
  int middle;
  char other_hole[1 << 16];
  int last;
};
static void __attribute__((noinline)) holes(Sparse *one, double *out, int all) {
#pragma omp parallel
  {
    const int sum = one->first + one->last;
#pragma omp for
    for (int i = 0; i < 8; i++)
      out[i] += all ? one->middle : sum;
  }
}

// An object that another region of the function has freed.
struct Freed {
  int number;
  // CHECK:      okl: versions of Freed::add
  // CHECK:      okl: versions of Freed::add
  // CHECK-NEXT: okl:   1 values: made
  void __attribute__((noinline)) add(double *out, long size, int is_last) {
#pragma omp parallel
#pragma omp single
    if (is_last)
      munmap(this, size);
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
      if (!is_last)
        out[i] += number;
  }
};

// What mathematical functions write.
static int __attribute__((noinline)) errors(int *error, double *out, double large) {
  int sum = 0;
#pragma omp parallel num_threads(1)
  {
    sum += *error;
    out[0] = exp(large);
    sum += *error;
  }
  return sum;
}

// Variables of which each thread has its own, with values that are computed when a thread first asks for them.
static int __attribute__((noinline)) begins() {
  static int number = 6;
  return ++number > 6 ? 7 : 0;
}
static thread_local int first = begins();
thread_local int count = 2;

// CHECK:      okl: versions of seeds
// CHECK-NEXT: okl:   {{[0-9]+}} values: made
static void __attribute__((noinline)) seeds(double *out, int some) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++) {
    first += i == 0 ? some : 0;
    out[i] = first * some + (++count > 0);
  }
}

// Objects that are variables of the program, here and in another file: both `int`s, not `weight`.
Config config{3, 90, 0.75, nullptr, ""};
extern Config elsewhere;
extern const Config constant;
__attribute__((weak)) Config replaced{1, 1, 1, nullptr, ""};
template <Config &its> static void __attribute__((noinline)) of_variable(const double *in, double *out) {
#pragma omp parallel for
  for (int i = 0; i < its.count; i++) {
    double sum = 0;
    for (int k = 0; k < its.order; k++)
      sum += in[i + k] * its.weight;
    out[i] = sum;
  }
}
// CHECK:      okl: versions of void of_variable<config>
// CHECK-NEXT: okl:   2 values: made {{.*}}, 2 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 2 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 2 calls
// CHECK:      okl: versions of void of_variable<elsewhere>
// CHECK-NEXT: okl:   2 values: made {{.*}}, 3 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 3 calls
// CHECK:      okl: versions of void of_variable<replaced>
// CHECK-NEXT: okl:   2 values: made {{.*}}, 6 calls

// CHECK:      okl: versions of of_constant
// CHECK-NEXT: okl:   2 values: made {{.*}}, 6 calls
static void __attribute__((noinline)) of_constant(double *out) {
#pragma omp parallel for
  for (int i = 0; i < constant.count; i++)
    out[i] += constant.order;
}

// Behind a pointer that is one: of two objects in turns.
// CHECK:      okl: versions of of_pointer
// CHECK-NEXT: okl:   2 values: made {{.*}}, 3 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 1 calls
// CHECK-NEXT: okl:   2 values: made {{.*}}, 2 calls
Config *current;
static void __attribute__((noinline)) of_pointer(const double *in, double *out) {
#pragma omp parallel for
  for (int i = 0; i < current->count; i++) {
    double sum = 0;
    for (int k = 0; k < current->order; k++)
      sum += in[i + k] * current->weight;
    out[i] = sum;
  }
}

// It may be none where nothing is read behind it.
// CHECK:      okl: versions of of_no_pointer
// CHECK-NEXT: okl:   1 values: made
static void __attribute__((noinline)) of_no_pointer(double *out, int some) {
#pragma omp parallel for
  for (int i = 0; i < some; i++)
    out[i] += current->order;
}

// The region may write what is there: behind another pointer, by the name of the variable, and the pointer; and another thread
// may write it, which this one waits for.
// CHECK:      okl: versions of stores
// CHECK-NEXT: okl:   0 values: made
static void __attribute__((noinline)) stores(int *out) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++)
    if (out[i] != current->order)
      out[i] = current->order + config.order;
}
// CHECK:      okl: versions of sets
// CHECK-NEXT: okl:   0 values: made
static double __attribute__((noinline)) sets() {
  double sum = 0;
#pragma omp parallel num_threads(1)
  {
    sum += config.order + config.count;
#pragma omp single
    config.count++;
    sum += config.count;
  }
  return sum;
}
// CHECK:      okl: versions of turns
// CHECK-NEXT: okl:   0 values: made
static double __attribute__((noinline)) turns(Config *next) {
  double sum = 0;
#pragma omp parallel num_threads(1)
  {
    sum += current->order;
#pragma omp single
    current = next;
    sum += current->order;
  }
  return sum;
}
// CHECK:      okl: versions of waits
// CHECK-NEXT: okl:   0 values: made
static double __attribute__((noinline)) waits() {
  double sum = 0;
#pragma omp parallel num_threads(1)
#pragma omp critical
  sum += current->order + config.order;
  return sum;
}

// A pointer to a function that is a variable: what that begins with is no part of the code.
// CHECK:      okl: versions of calls
// CHECK-NEXT: okl:   1 values: made
static double one_more(double x) noexcept { return x + 1; }
static double two_more(double x) noexcept { return x + 2; }
double (*next)(double) noexcept = one_more;
static void __attribute__((noinline)) calls(double *out, int some) {
#pragma omp parallel for
  for (int i = 0; i < some; i++)
    out[i] = next(out[i]);
}

struct Ends {
  int number;
  Ends() : number(begins()) {}
  ~Ends() { config.order = 0; }
};
// MISSED-DAG: jit-of-objects.cpp:[[# @LINE + 2]]:1: remark: region is not compiled once more at run time: it has variables of its thread whose type has a destructor
static void __attribute__((noinline)) ends(double *out) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++) {
    static thread_local Ends own;
    out[i] += own.number;
  }
}
// MISSED-DAG: jit-of-objects.cpp:[[# @LINE + 2]]:1: remark: region is not compiled once more at run time: it has static variables whose type has a destructor
static void __attribute__((noinline)) ends_once(double *out) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++) {
    static Ends once;
    out[i] += once.number;
  }
}

namespace {
struct Odd {
  int number;
};
}
static __attribute__((noinline)) int even(int number, int most) {
  if (number > most)
    throw number;
  if (number % 2)
    throw Odd{number};
  return number;
}

// A type is known by the address of its name.
// CHECK:      okl: versions of catches(double*, int)
// CHECK-NEXT: okl:   1 values: made
static std::exception_ptr last;
static void catches(double *out, int most) {
#pragma omp parallel for
  for (int i = 0; i < 8; i++)
    try {
      out[i] += even(i, most);
    } catch (const Odd &odd) {
      out[i] -= odd.number;
    } catch (...) {
#pragma omp critical
      last = std::current_exception();
    }
}
static int thrown() {
  try {
    std::rethrow_exception(last);
  } catch (int number) {
    return number;
  }
}

int main() {
  static double in[128], out[128];
  static int numbers[8];
  for (int i = 0; i < 128; i++)
    in[i] = 1.0 / (i + 1);
  Solver own{3, 100, 0.7, in, out, numbers};
  Solver other{11, 90, 0.6, in, out, numbers};
  const long page = sysconf(_SC_PAGESIZE);
  const int kind = MAP_PRIVATE | MAP_ANONYMOUS;
  char *const pages = static_cast<char *>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, kind, -1, 0));
  mprotect(pages, page, PROT_NONE);
  Solver *const at_start = reinterpret_cast<Solver *>(pages + page - offsetof(Solver, count));
  const size_t size = sizeof(Sparse) + page;
  Sparse *const sparse = static_cast<Sparse *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, kind, -1, 0));
  sparse->last = 1;
  mprotect(reinterpret_cast<char *>(sparse) + page, (1 << 16) + page, PROT_NONE);
  for (int n = 0; n < 6; n++) {
    if (n == 3)
      own.order = 8;
    own.numbers = n < 5 ? numbers : &own.order;
    own.run();
    double sum = 0;
    for (double one : out)
      sum = sum / 2 + one;
    if (n < 5)
      own.number();
    own.scaled();
    maybe(n % 2 ? &own : nullptr, out, n % 2 ? 5 : 0);
    changes(&shared, out);
    printf("%a %d %a %a\n", sum, numbers[3], out[2], out[0]);
    derive(&own);
    // In front of what it reads of this one there is nothing.
    derive(at_start);
    perhaps(n % 2 ? &own : nullptr, out, n % 2 ? 5 : 0);
    printf("%a %a %a\n", out[1], moves(&own, &other), names(&other, &other.order));
    holes(sparse, out, 0);
    const auto freed = reinterpret_cast<Freed *>(mmap(nullptr, page, PROT_READ | PROT_WRITE, kind, -1, 0));
    freed->number = 2 + n / 3;
    freed->add(out, page, n > 3);
    printf("%a %a\n", out[0], out[7]);
    errno = 0;
    printf("%d\n", errors(&errno, out, 1000 + n));
    seeds(out, n + 2);
    printf("%a %a\n", out[0], out[7]);
    const auto told = [] {
      double sum = 0;
      for (double one : out)
        sum = sum / 2 + one;
      printf("%a\n", sum);
    };
    config.order = 3 + n / 2;
    elsewhere.count = n > 2 ? 75 : 80;
    of_variable<config>(in, out), told();
    of_variable<elsewhere>(in, out), told();
    of_variable<replaced>(in, out), told();
    of_constant(out), told();
    current = n % 2 ? &elsewhere : &replaced;
    of_pointer(in, out), told();
    current = n % 2 ? current : nullptr;
    of_no_pointer(out, n % 2 ? 9 : 0), told();
    current = &elsewhere;
    stores(numbers);
    printf("%d %a %a %a\n", numbers[3], sets(), turns(&replaced), waits());
    config.count = 90;
    calls(out, 20 + n), ends(out), ends_once(out), told();
    catches(out, 6), told();
    printf("%d\n", thrown());
    next = n > 3 ? two_more : one_more;
  }
}
#endif
