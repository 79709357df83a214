// Stores that LLVM joins to fills without a type: of numbers, and of pointers that the same loop follows.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { N = 3000 };

struct atoms {
  double (*force)[3], *energy;
};
struct link {
  double *a, *b, *c, *d;
};

static inline void zero(double *vector) { vector[0] = vector[1] = vector[2] = 0; }
static inline void cut(struct link *link) { link->a = link->b = link->c = link->d = 0; }

__attribute__((noinline)) static void clear(struct atoms *atoms, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    zero(atoms->force[i]);
    atoms->energy[i] += i % 3;
  }
}

struct simulation {
  int count;
  struct atoms *atoms;
};

__attribute__((noinline)) static void clear_all(struct simulation *all, double *rest) {
#pragma omp parallel for
  for (int i = 0; i < all->count; i++) {
    zero(all->atoms->force[i]);
    all->atoms->energy[i] += i % 4;
    rest[i] += 0.5;
  }
}

// The last link is the one that is followed.
__attribute__((noinline)) static void follow(struct link *links, double *rest, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *to = links[2 * i + 1].a;
    cut(&links[2 * i]);
    cut(&links[2 * i + 1]);
    if (to)
      *to += i;
    else
      rest[i] += links[2 * i].b ? 100 : 1;
  }
}

int main(void) {
  struct atoms atoms = {malloc(N * sizeof *atoms.force), calloc(N, sizeof(double))};
  struct link *links = calloc(2 * N, sizeof *links);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) atoms.force[i][k] = i + k;
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < N; i++) links[2 * i + 1].a = i % 2 ? &atoms.energy[i] : 0, links[2 * i].b = atoms.energy;
    clear(&atoms, N - 7 * t);
    struct simulation all = {t * 700, &atoms};
    clear_all(&all, atoms.energy);
    follow(links, &atoms.force[0][0], N);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += atoms.energy[i] * (i % 5) + atoms.force[i][0] + 2 * atoms.force[i][2];
    int left = 0;
    for (int i = 0; i < 2 * N; i++) left += links[i].a || links[i].b;
    printf("%.10g %d\n", sum, left);
    for (int i = 0; i < N; i++) atoms.force[i][1] = t * i;
  }
}
