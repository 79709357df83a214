// schedules: 0 1 2 3 4 5 6 7
// refused: 90
//
// Temporary spaces. What each of them needs when loops are fused: a scalar, a few places, a row, several rows. Some are written in
// part, and what was there before is read; one is an array of the stack, one is static, one is reached through a pointer in a
// struct; one is used again for something else, one is read by a loop that is not fused with what writes it, one is read nowhere.
#include "chain.h"

#if SCHEDULE == 0
#define LINES
#define PLANES
#elif SCHEDULE == 1
#define LINES auto
#define PLANES auto
#elif SCHEDULE == 2
#define LINES fuse()
#define PLANES fuse()
#elif SCHEDULE == 3
#define LINES fuse(), tile((8), serial, serial)
#define PLANES fuse(), tile((4, 8), serial, serial)
#elif SCHEDULE == 4
#define LINES fuse(), tile((8), parallel, serial, overlap)
#define PLANES fuse(), tile((4, 8), parallel, serial, overlap)
#elif SCHEDULE == 5
#define LINES parallel
#define PLANES fuse(), tile((4, 8), wavefront, serial)
#elif SCHEDULE == 6
#define LINES tile((8), parallel, serial)
#define PLANES fuse((0, 0), (1, 0), (2, 0))
#elif SCHEDULE == 7
#define LINES fuse(), tile((6), overlap)
#define PLANES fuse(), tile((6), overlap)
#elif SCHEDULE == 90
#define LINES fuse(), tile((8), parallel, serial)
#define PLANES fuse(), tile((8), parallel, serial)
#endif

enum { N = 45, M = 30 };

// `scalar` and `near` shrink to a few places each. `border` is written from 2 to N - 1, and read from 0 to N + 1.
static void line(const double *a, double *result) {
  static double border[N + 2], unread[N + 2];
  double scalar[N + 2], near[N + 2];
  for (int i = 0; i <= N + 1; i++)
    border[i] = 0.25 * i;
  PRAGMA(omplc loopchain schedule(LINES) local(scalar, near, border, unread))
  {
#pragma omplc for domain(1 : N) with(i) read a{(i)}, write scalar{(i)}
    for (int i = 1; i <= N; i++)
      scalar[i] = a[i] * a[i];
#pragma omplc for domain(1 : N) with(i) read scalar{(i)}, write near{(i)}, write unread{(i)}
    for (int i = 1; i <= N; i++) {
      near[i] = scalar[i] + 1;
      unread[i] = scalar[i] - 1;
    }
#pragma omplc for domain(2 : N - 1) with(i) read near{(i - 1), (i + 1)}, write border{(i)}
    for (int i = 2; i <= N - 1; i++)
      border[i] = near[i - 1] * near[i + 1];
#pragma omplc for domain(1 : N) with(i) read border{(i - 1), (i), (i + 1)}, write result{(i)}
    for (int i = 1; i <= N; i++)
      result[i] = border[i - 1] - 2 * border[i] + border[i + 1];
  }
}

struct planes {
  double *first, *second;
};

// A row of `first`, and three of `second`, are all that is needed at once.
static void plane(const double *a, double *result, struct planes own) {
  double *first = own.first;
  PRAGMA(omplc loopchain schedule(PLANES) local first local second)
  {
#pragma omplc for domain(0 : N, 1 : M) with(i, j) read a{(i, j - 1), (i, j), (i, j + 1)}, write first{(i, j)}
    for (int i = 0; i <= N; i++)
      for (int j = 1; j <= M; j++)
        first[i * (M + 2) + j] = a[i * (M + 2) + j - 1] + a[i * (M + 2) + j] + a[i * (M + 2) + j + 1];
#pragma omplc for domain(0 : N, 2 : M - 1) with(i, j) read first{(i, j - 1), (i, j + 1)}, write second{(i, j)}
    for (int i = 0; i <= N; i++)
      for (int j = 2; j <= M - 1; j++)
        own.second[i * (M + 2) + j] = 0.5 * (first[i * (M + 2) + j - 1] + first[i * (M + 2) + j + 1]);
#pragma omplc for domain(1 : N - 1, 2 : M - 1) with(i, j) read second{(i - 1, j), (i, j), (i + 1, j)}, write result{(i, j)}
    for (int i = 1; i <= N - 1; i++)
      for (int j = 2; j <= M - 1; j++)
        result[i * (M + 2) + j] = own.second[(i - 1) * (M + 2) + j] - 2 * own.second[i * (M + 2) + j] + own.second[(i + 1) * (M + 2) + j];
  }
}

// One space for two values, one after the other, so that its two lives must not mix.
static void again(const double *a, double *result, double *space) {
  PRAGMA(omplc loopchain schedule(LINES) local space)
  {
#pragma omplc for domain(0 : N) with(i) read a{(i)}, write space{(i)}
    for (int i = 0; i <= N; i++)
      space[i] = 2 * a[i];
#pragma omplc for domain(1 : N) with(i) read space{(i - 1), (i)}, write result{(i)}
    for (int i = 1; i <= N; i++)
      result[i] = space[i] - space[i - 1];
#pragma omplc for domain(0 : N) with(i) read a{(i)}, write space{(i)}
    for (int i = 0; i <= N; i++)
      space[i] = 3 * a[i];
#pragma omplc for domain(1 : N) with(i) read space{(i - 1), (i)}, read result{(i)}, write result{(i)}
    for (int i = 1; i <= N; i++) {
      // On devices a sum and a product are one operation where they are in one expression.
      double product = space[i] * space[i - 1];
      result[i] += product;
    }
  }
}

// A space that each row writes anew: all rows share its places.
static void scratch(const double *a, double *result) {
  double row[M + 2];
  PRAGMA(omplc loopchain schedule() local row)
  {
#pragma omplc for domain(1 : N - 1) with(i) read a{(i)}, write row{(0)}, read row{(0)}, write result{(i)}
    for (int i = 1; i <= N - 1; i++) {
      for (int j = 0; j <= M + 1; j++)
        row[j] = a[i * (M + 2) + j] * i;
      for (int j = 1; j <= M; j++)
        result[i * (M + 2) + j] = row[j - 1] + row[j + 1];
    }
  }
}

// An array of the function's that no loop of the chain writes.
static void weighted(const double *a, double *result) {
  double weights[3] = {a[0], a[1], a[2]}, chosen[N + 2], last[2] = {a[3], a[4]}, between[N + 2];
  for (int i = 0; i <= N + 1; i++)
    chosen[i] = a[N + 1 - i] * weights[i % 3];
  PRAGMA(omplc loopchain schedule(LINES) local(between))
  {
#pragma omplc for domain(1 : N) with(i) read a{(i)}, read chosen{(i)}, write between{(i)}
    for (int i = 1; i <= N; i++)
      between[i] = a[i] * chosen[i];
#pragma omplc for domain(1 : N) with(i) read chosen{(i)}, read between{(i)}, read last{(1)}, write result{(i)}
    for (int i = 1; i <= N; i++)
      result[i] = between[i] - chosen[i] * last[1];
  }
}

int main(void) {
  enum { SIZE = (N + 2) * (M + 2) };
  static double a[SIZE], result[SIZE], first[SIZE], second[SIZE], wanted[SIZE];
  int right = 1;
  for (int at = 0; at < SIZE; at++) {
    a[at] = noise(at);
    first[at] = second[at] = noise(at + 50000);
    result[at] = wanted[at] = 0;
  }
  line(a, result);
  double border[N + 2];
  for (int i = 0; i <= N + 1; i++)
    border[i] = 0.25 * i;
  for (int i = 2; i <= N - 1; i++) {
    double before = a[i - 1] * a[i - 1], behind = a[i + 1] * a[i + 1];
    before += 1;
    behind += 1;
    border[i] = before * behind;
  }
  for (int i = 1; i <= N; i++)
    wanted[i] = border[i - 1] - 2 * border[i] + border[i + 1];
  right &= same("line", result, wanted, SIZE);
  print_doubles("line", result, N + 2);
  for (int at = 0; at < N + 2; at++)
    result[at] = wanted[at] = 0;
  plane(a, result, (struct planes){first, second});
  for (int i = 1; i <= N - 1; i++)
    for (int j = 2; j <= M - 1; j++) {
      double values[3];
      for (int k = 0; k < 3; k++) {
        const double *row = a + (i + k - 1) * (M + 2) + j;
        double left = row[-2] + row[-1] + row[0], behind = row[0] + row[1] + row[2];
        values[k] = 0.5 * (left + behind);
      }
      wanted[i * (M + 2) + j] = values[0] - 2 * values[1] + values[2];
    }
  right &= same("plane", result, wanted, SIZE);
  print_doubles("plane", result, SIZE);
  again(a, result, first);
  for (int i = 1; i <= N; i++) {
    wanted[i] = 2 * a[i] - 2 * a[i - 1];
    double here = 3 * a[i], before = 3 * a[i - 1];
    wanted[i] += here * before;
  }
  right &= same("again", result + 1, wanted + 1, N);
  print_doubles("again", result, N + 2);
  weighted(a, result);
  print_doubles("weighted", result, N + 2);
  scratch(a, result);
  print_doubles("scratch", result, SIZE);
  puts(right ? "right" : "wrong");
  return !right;
}
