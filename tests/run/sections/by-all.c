// Loops that read rows where their numbers say, and write them whole: what other threads write is not read. What a thread
// reads of others' rows, of its own other chunks, after a lock, or outside of what all write, is right, too.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 37, m = 96, rounds = 6 };

struct plan {
  int n;
  int *order;
};

static void butterflies(const struct plan *p, double *row) {
  const int *order = p->order;
  for (int j = 0; j < p->n; j++)
    if (j < order[j]) {
      double other = row[j];
      row[j] = row[order[j]];
      row[order[j]] = other;
    }
  for (int half = 1; half < p->n; half *= 2)
    for (int block = 0; block + 2 * half <= p->n; block += 2 * half)
      for (int j = block; j < block + half; j++) {
        double x = row[j], y = row[j + half];
        row[j] = x + y;
        row[j + half] = x - y;
      }
  for (int j = 0; j < p->n; j++)
    row[j] = row[j] / 2 + 1;
}

static double sum(const double *a, int count) {
  double all = 0;
  for (int i = 0; i < count; i++)
    all += a[i] * (1 + i % 7);
  return all;
}

// Whole rows, and a margin around them that nobody writes.
static void rows(const struct plan *p, double *a, const int *from) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *row = a + (i + 1) * m;
    double before = a[from[i] * m + i % m];
    butterflies(p, row);
    row[0] += before;
  }
}

// A thread's own rows of other chunks, before and after it writes them.
static void chunks(double *a) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++) {
    int threads = omp_get_num_threads(), other = i >= threads ? i - threads : i;
    double was = a[(other + 1) * m + 3];
    for (int j = 0; j < m; j++)
      a[(i + 1) * m + j] = a[(i + 1) * m + j] / 2 + j + 0 * was;
    if (i >= threads && was != a[(other + 1) * m + 3])
      a[(i + 1) * m] = -1;
  }
}

// The rows of a thread, as far as its number says.
static void lengths(const struct plan *p, double *a) {
#pragma omp parallel
  {
    struct plan own = {m - omp_get_thread_num() % 2 * 0, p->order};
#pragma omp for
    for (int i = 0; i < n; i++)
      butterflies(&own, a + (i + 1) * m);
  }
}

// On copies that the thread has.
static void copies(const struct plan *p, double *a) {
#pragma omp parallel
  {
    double row[2 * m];
#pragma omp for
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++)
        row[j] = a[(i + 1) * m + j];
      butterflies(p, row);
      for (int j = 0; j < m; j++)
        a[(i + 1) * m + j] = row[j];
    }
  }
}

// Some of the rows, in an array that is larger: the rest is read as it is.
static void some(double *a, const int *order, int first, int last) {
#pragma omp parallel for
  for (int i = first; i < last; i++) {
    double elsewhere = 0;
    for (int j = 0; j < m; j++)
      elsewhere += a[order[j]];
    for (int j = 0; j < m; j++)
      a[i * m + j] = elsewhere + i + j;
  }
}

// First the threads before this one, each behind the other.
static void in_turn(double *a, const int *from) {
  int next = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) {
    int mine = 0;
#pragma omp critical
    {
      mine = next++;
      a[(from[i] % n + 1) * m] += 1;
    }
    (void)mine;
  }
}

int main(void) {
  double *a = calloc((size_t)(n + 2) * m, sizeof *a);
  struct plan p = {m, calloc(m, sizeof(int))};
  int from[n], outside[m];
  for (int j = 0; j < m; j++) {
    p.order[j] = j * 35 % m;
    outside[j] = j % 2 ? j / 2 : (n + 1) * m + j / 2;
  }
  for (int i = 0; i < n; i++)
    from[i] = i % 2 ? 0 : n + 1;
  for (int i = 0; i < (n + 2) * m; i++)
    a[i] = i % 13;
  for (int round = 0; round < rounds; round++) {
    rows(&p, a, from);
    printf("%.6f\n", sum(a, (n + 2) * m));
    chunks(a);
    printf("%.6f\n", sum(a, (n + 2) * m));
    lengths(&p, a);
    copies(&p, a);
    printf("%.6f\n", sum(a, (n + 2) * m));
    some(a, outside, 3 + round, n - round);
    in_turn(a, from);
    printf("%.6f\n", sum(a, (n + 2) * m));
    a[round % m] += round;
  }
  free(p.order);
  free(a);
  return 0;
}
