// schedules: 0 1 2 3 4 5 6
// refused: 90 91
//
// Reductions at the beginning, in the middle and at the end of a chain: a sum, a greatest value, a sum for each class. All numbers
// are whole, so that their sums have the same bits in every order. The greatest value is read by a loop that follows: no schedule
// may mix the two. Then all the ways in which results are combined, in several loops, several times in an iteration, in variables
// of the function and of the file.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS parallel
#elif SCHEDULE == 4
#define ITEMS tile((16), parallel, serial)
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((16), serial, serial)
#elif SCHEDULE == 6
#define ITEMS fuse(), tile((16), parallel, serial, overlap)
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0))
#elif SCHEDULE == 91
#define ITEMS tile((16, 16), serial, serial)
#endif

enum { CLASSES = 8 };

// A smoothed line, its sum and its sums by class.
static double smooth(const double *a, double *b, const int *class, double by_class[CLASSES], int n) {
  double sum = 0;
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i), (i + 1)}, write b{(i)}
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      b[i] = a[i - 1] + 2 * a[i] + a[i + 1];
#pragma omplc for domain(1 : n) with(i) read b{(i - 1), (i), (i + 1)}
#pragma omp parallel for reduction(+ : sum)
    for (int i = 1; i <= n; i++)
      sum += b[i - 1] + b[i] + b[i + 1];
#pragma omplc for domain(1 : n) with(i) read b{(i)}, read class{(i)}
#pragma omp parallel for reduction(+ : by_class[ : CLASSES])
    for (int i = 1; i <= n; i++)
      by_class[class[i]] += b[i];
  }
  return sum;
}

#if SCHEDULE == 2 || SCHEDULE >= 5
// What is scaled by the greatest value cannot be fused with what finds it.
#define SCALED
#else
#define SCALED ITEMS
#endif

static double scale(const double *a, double *b, int n) {
  double most = 0, total = 0;
  PRAGMA(omplc loopchain schedule(SCALED))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i)}
#pragma omp parallel for reduction(max : most)
    for (int i = 1; i <= n; i++)
      most = a[i] > most ? a[i] : most;
#pragma omplc for domain(1 : n) with(i) read a{(i)}, write b{(i)}
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      b[i] = most - a[i];
#pragma omplc for domain(1 : n) with(i) read b{(i)}
#pragma omp parallel for reduction(+ : total)
    for (int i = 1; i <= n; i++)
      total += b[i];
  }
  return total + most;
}

static double highest;
static long all_of_it;

struct results {
  double most, least, near;
  float small;
  long sum, product, counted;
  int greatest, smallest, bits_of_all, bits, parity, holds, held, found;
  unsigned largest;
  short narrow, low;
  unsigned char high;
  int mark, unmarked;
};

static struct results many(const double *a, double *b, const int *class, int n) {
  double most = -1e9, least = 1e9, near = -1e9;
  float small = 1e9f;
  long sum = 3, product = 1, counted = 0;
  int greatest = -1000, smallest = 1000, bits_of_all = ~0, bits = 1, parity = 0, holds = 1, held = 1, found = 0;
  unsigned largest = 0;
  short narrow = 7, low = 1000;
  unsigned char high = 0;
  int mark = 4, unmarked = 4;
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i), (i + 1)}, write b{(i)}
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      b[i] = a[i - 1] + 2 * a[i] + a[i + 1];
#pragma omplc for domain(1 : n) with(i) read a{(i)}, read b{(i)}
#pragma omp parallel for reduction(max : most, near) reduction(min : least, small)
    for (int i = 1; i <= n; i++) {
      if (b[i] > most)
        most = b[i];
      least = a[i] < least ? a[i] : least;
      if (!(near >= a[i] - 3))
        near = a[i] - 3;
      small = small < (float)a[i] ? small : (float)a[i];
    }
#pragma omplc for domain(1 : n) with(i) read b{(i)}, read class{(i)}
#pragma omp parallel for reduction(+ : sum, counted, narrow, all_of_it) reduction(* : product) reduction(^ : parity)
    for (int i = 1; i <= n; i++) {
      sum += (long)b[i];
      if (class[i] > 3) {
        sum -= class[i];
        counted++;
      } else
        sum += 2;
      product *= 2 * class[i] + 1;
      narrow += class[i];
      all_of_it += class[i];
      parity ^= class[i];
    }
#pragma omplc for domain(1 : n) with(i) read class{(i)}
#pragma omp parallel for reduction(max : greatest, largest) reduction(min : smallest) reduction(& : bits_of_all) reduction(| : bits) \
    reduction(+ : sum)
    for (int i = 1; i <= n; i++) {
      greatest = class[i] * 3 - i % 7 > greatest ? class[i] * 3 - i % 7 : greatest;
      if (class[i] - i % 5 < smallest)
        smallest = class[i] - i % 5;
      if ((unsigned)(class[i] * i) >= largest)
        largest = (unsigned)(class[i] * i);
      bits_of_all &= class[i] | 8;
      bits |= class[i] & 2;
      sum += 5;
    }
#pragma omplc for domain(1 : n) with(i) read a{(i)}, read class{(i)}
#pragma omp parallel for reduction(&& : holds, held) reduction(|| : found) reduction(max : highest)
    for (int i = 1; i <= n; i++) {
      holds = holds && class[i] < CLASSES;
      held = held && class[i] != 2;
      found = found || (class[i] == 1 && a[i] > 3);
      if (a[i] > highest)
        highest = a[i];
    }
    // Numbers of fewer bits than they are compared with, what only a constant is written to, and what decides itself whether
    // the old value is asked.
#pragma omplc for domain(1 : n) with(i) read class{(i)}
#pragma omp parallel for reduction(min : low) reduction(max : high) reduction(&& : holds)
    for (int i = 1; i <= n; i++) {
      if ((short)(class[i] - i) < low)
        low = (short)(class[i] - i);
      high = (unsigned char)(class[i] * 40) > high ? (unsigned char)(class[i] * 40) : high;
      if (class[i] == 5)
        mark = 0;
      if (class[i] > CLASSES)
        unmarked = 1;
      int below = class[i] < CLASSES;
      holds = below && holds;
    }
  }
  return (struct results){most,   least,    near,     small,       sum,  product, counted, greatest,
                          smallest, bits_of_all, bits, parity,  holds,   held,     found, largest, narrow,  low,     high,     mark,  unmarked};
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 203), right = 1;
  double *a = doubles(n + 2), *b = doubles(n + 2), by_class[CLASSES] = {0}, wanted_by_class[CLASSES] = {0};
  int *class = (int *)malloc((size_t)(n + 2) * sizeof *class);
  if (!class)
    return 1;
  for (int i = 0; i < n + 2; i++) {
    a[i] = (double)(long)(1000 * noise(i));
    b[i] = 0;
    class[i] = (int)(CLASSES * noise(i + 5000));
  }
  double sum = smooth(a, b, class, by_class, n), wanted_sum = 0;
#define SMOOTH(i) ((i) < 1 || (i) > n ? 0 : a[(i) - 1] + 2 * a[i] + a[(i) + 1])
  for (int i = 1; i <= n; i++) {
    wanted_sum += SMOOTH(i - 1) + SMOOTH(i) + SMOOTH(i + 1);
    wanted_by_class[class[i]] += SMOOTH(i);
  }
  right &= same("sum", &sum, &wanted_sum, 1) & same("by_class", by_class, wanted_by_class, CLASSES);
  print_doubles("b", b, n + 2);
  double total = scale(a, b, n), most = 0, wanted_total = 0;
  for (int i = 1; i <= n; i++)
    most = a[i] > most ? a[i] : most;
  for (int i = 1; i <= n; i++)
    wanted_total += most - a[i];
  wanted_total += most;
  right &= same("total", &total, &wanted_total, 1);
  print_doubles("b", b, n + 2);
  printf("%a %a\n", sum, total);
  print_doubles("by_class", by_class, CLASSES);
  highest = -1e9;
  struct results all = many(a, b, class, n);
  printf("%a %a %a %a\n", all.most, all.least, all.near, (double)all.small);
  printf("%ld %ld %ld %d %ld %a\n", all.sum, all.product, all.counted, all.narrow, all_of_it, highest);
  printf("%d %d %u %d %d %d %d %d %d\n", all.greatest, all.smallest, all.largest, all.bits_of_all, all.bits, all.parity, all.holds,
         all.held, all.found);
  printf("%d %d %d %d\n", all.low, all.high, all.mark, all.unmarked);
  free(a), free(b), free(class);
  puts(right ? "right" : "wrong");
  return !right;
}
