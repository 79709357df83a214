// Directives of OpenMP, combined and nested.
// RUN: %S/compile %plugin %s -std=c11
#include <omp.h>
#include <stdio.h>
static int a[100], b[100], counter;
#pragma omp threadprivate(counter)
#pragma omp declare simd uniform(k) linear(i)
static int f(int i, int k) { return i * k; }
static void orphans(int n) {
#pragma omp for schedule(dynamic, 3) nowait
  for (int i = 0; i < n; i++)
    a[i]++;
#pragma omp sections
  {
#pragma omp section
    b[0]++;
#pragma omp section
    b[1]++;
  }
#pragma omp single copyprivate(counter)
  counter = 3;
#pragma omp master
  b[2]++;
#pragma omp masked filter(1)
  b[3]++;
#pragma omp critical(name) hint(0)
  b[4]++;
#pragma omp barrier
#pragma omp flush(a, b)
}
static int tree(int n) {
  int x, y;
  if (n < 2)
    return n;
#pragma omp task shared(x) if (n > 5) untied
  x = tree(n - 1);
#pragma omp task shared(y) mergeable final(n < 4) priority(3)
  y = tree(n - 2);
#pragma omp taskwait
  return x + y;
}
int main(void) {
  int s = 0, last = 0, t = 4;
#pragma omp parallel num_threads(3) if (t > 2) proc_bind(close) default(none) shared(a, b, s, t) private(last)
  {
    orphans(100);
#pragma omp for ordered(2) collapse(2)
    for (int i = 1; i < 9; i++)
      for (int j = 1; j < 9; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        a[i * 10 + j] = a[i * 10 - 10 + j] + 1;
#pragma omp ordered depend(source)
      }
#pragma omp for ordered schedule(monotonic : dynamic) reduction(inscan, + : s)
    for (int i = 0; i < 10; i++) {
      s += i;
#pragma omp scan inclusive(s)
      b[i] = s;
    }
#pragma omp single
    {
      t = tree(8);
#pragma omp taskloop grainsize(4) reduction(+ : s) firstprivate(t)
      for (int i = 0; i < 20; i++)
        s += t;
#pragma omp taskgroup task_reduction(+ : s)
      {
#pragma omp task in_reduction(+ : s) depend(inout : a[0]) affinity(a[0])
        s += 1;
#pragma omp task depend(in : a[0]) depend(mutexinoutset : b[0])
        b[0]++;
#pragma omp taskyield
      }
    }
#pragma omp cancel parallel if (omp_get_num_threads() > 1000)
  }
#pragma omp parallel for simd collapse(2) schedule(guided) aligned(a : 4) safelen(4) lastprivate(last)
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      if ((a[i * 10 + j] = f(i, j)))
        last = i;
#pragma omp parallel
#pragma omp loop bind(parallel)
  for (int i = 0; i < 100; i++)
    a[i] = i;
#pragma omp parallel
  {
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
      b[i] = i;
#pragma omp scope reduction(+ : s)
    s++;
  }
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 6; j++)
      a[i * 6 + j] = j;
#pragma omp parallel for
#pragma omp unroll partial(4)
  for (int i = 0; i < 100; i++)
    a[i] = i;
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for
  for (int i = 0; i < 100; i++)
    a[i]++;
#pragma omp metadirective when(implementation = {vendor(llvm)} : parallel) default(single)
  { s++; }
  printf("%d %d\n", t, last);
  return 0;
}
