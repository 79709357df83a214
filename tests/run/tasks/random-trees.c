// Random trees of tasks: children write results into their creator's frame, into the heap and into globals, and are waited for
// in every way. The values are those of the same trees without tasks, whichever rank runs what.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREES = 24, MOST_CHILDREN = 5, DEPTH = 4, SLOTS = 1 << 16 };

typedef unsigned long number;
typedef struct { number seed; int depth; int kind; number values[6]; } node;

static number hits[SLOTS], created;
static int is_parallel;

static number mix(number x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdUL;
  x ^= x >> 29;
  return x * 0xc4ceb9fe1a85ec53UL ^ x >> 32;
}

static number work(number seed) {
  if (is_parallel && seed % 3 == 0) usleep(seed / 8 % 200);
  number value = seed;
  for (int i = 0; i < 50; i++) value = mix(value + i);
#pragma omp atomic
  hits[value % SLOTS]++;
  return value;
}

static number tree(number seed, int depth);

// Each child has a place in the frame.
static number by_frame(number seed, int depth, int children) {
  number result[MOST_CHILDREN], sum = 0, arrived = 0;
  for (int i = 0; i < children; i++) {
#pragma omp task shared(result, arrived) firstprivate(i, seed, depth) if (seed % 7 != 0 || i != 2)
    {
      result[i] = tree(mix(seed + i), depth - 1);
#pragma omp atomic
      arrived += i + 1;
    }
  }
  number own = work(seed);
#pragma omp taskwait
  for (int i = 0; i < children; i++) sum = sum * 31 + result[i];
  return sum + own + arrived;
}

// Each child leaves a block in the heap, which its creator frees.
static number by_heap(number seed, int depth, int children) {
  node **all = malloc(children * sizeof *all);
  number sum = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < children; i++) {
      node n = {mix(seed ^ i), depth - 1, i, {seed, i, depth}};
#pragma omp task firstprivate(n, all, i)
      {
        node *mine = malloc(sizeof *mine);
        *mine = n;
#pragma omp task firstprivate(mine)
        mine->values[3] = tree(mine->seed, mine->depth);
#pragma omp task firstprivate(mine)
        mine->values[4] = work(mine->seed + 1);
        all[i] = mine;
      }
    }
  }
  for (int i = 0; i < children; i++) {
    sum = sum * 17 + all[i]->values[3] + 3 * all[i]->values[4] + all[i]->values[1];
    free(all[i]);
  }
  free(all);
  return sum;
}

// A chain with readers between its links.
static number by_dependences(number seed, int depth, int links) {
  number chain = seed, seen[MOST_CHILDREN] = {0}, sum = 0;
  for (int i = 0; i < links; i++) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i) priority(i)
    chain = mix(chain + i) + (i == 1 ? tree(seed + 9, depth - 2) : 0);
#pragma omp task depend(in : chain) depend(out : seen[i]) shared(chain, seen) firstprivate(i)
    seen[i] = work(chain + i);
  }
#pragma omp task depend(in : seen[0]) shared(seen, sum)
  sum = seen[0] * 5;
#pragma omp taskwait
  for (int i = 0; i < links; i++) sum = sum * 13 + seen[i];
  return sum + chain;
}

static number by_loop(number seed, int depth, int turns) {
  number values[40], sum = 0;
#pragma omp taskloop shared(values) firstprivate(seed, depth)
  for (int i = 0; i < 8 * turns; i++) {
    values[i] = work(seed * 3 + i);
    if (i == 3) values[i] += tree(seed + 5, depth - 2);
  }
  for (int i = 0; i < 8 * turns; i++) sum = sum * 7 + values[i];
  return sum;
}

// Sums up under a lock, and with reductions, for which tasks stay where they are created.
static number by_sums(number seed, int depth, int children) {
  number locked = 0, reduced = 0;
  for (int i = 0; i < children; i++) {
#pragma omp task shared(locked) firstprivate(i)
    {
      number value = tree(seed + 3 * i, depth - 1);
#pragma omp critical
      locked += value;
    }
  }
#pragma omp taskwait
#ifdef WITH_REDUCTIONS
#pragma omp taskgroup task_reduction(+ : reduced)
  for (int i = 0; i < children; i++) {
#pragma omp task in_reduction(+ : reduced) firstprivate(i)
    reduced += work(seed + i);
  }
#endif
  return locked + 3 * reduced;
}

static number tree(number seed, int depth) {
#pragma omp atomic
  created++;
  if (depth <= 0) return work(seed);
  int children = 1 + seed / 5 % MOST_CHILDREN;
  switch (seed % 5) {
    case 0: return by_heap(seed, depth, children);
    case 1: return by_dependences(seed, depth, children);
    case 2: return by_loop(seed, depth, children);
    case 3: return by_sums(seed, depth, children);
    default: return by_frame(seed, depth, children);
  }
}

int main(int argc, char **argv) {
  static number expected[SLOTS];
  number first = argc > 1 ? strtoul(argv[1], 0, 10) : 1, trees = argc > 2 ? strtoul(argv[2], 0, 10) : TREES;
  int wrong = 0;
  for (number t = first; t < first + trees; t++) {
    number value = 0, root = mix(t);
    memset(hits, 0, sizeof hits);
    is_parallel = 0, created = 0;
    number right = tree(root, DEPTH), nodes = created;
    memcpy(expected, hits, sizeof hits);
    memset(hits, 0, sizeof hits);
    is_parallel = 1, created = 0;
#pragma omp parallel
    {
#pragma omp single
      value = tree(root, DEPTH);
    }
    int is_wrong = value != right || created != nodes || memcmp(expected, hits, sizeof hits) != 0;
    if (is_wrong) printf("tree %lu: %lx instead of %lx, %lu of %lu nodes\n", t, value, right, created, nodes);
    wrong += is_wrong;
  }
  number sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += tree(mix(77), DEPTH - 1) % 1000;
  printf("%d wrong, %d\n", wrong, sum / (tree(mix(77), DEPTH - 1) % 1000) == (number)omp_get_max_threads());
  return 0;
}
