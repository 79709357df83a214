// ranks: 1 2 3 4
// opt: -O0 -O2
// flags: -lm
// compare: tolerance 1e-9
//
// Multigrid for a periodic Poisson problem: kernel MG of the NAS parallel
// benchmarks, class S (32^3 points, four V-cycles), written from its published
// description. The charges sit at the ten largest and ten smallest of 32^3
// random numbers, which a user-declared reduction finds. Norms are reductions,
// hence the tolerance.
#include "lcg46.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 5, SIDE = 1 << LEVELS, POINTS = SIDE * SIDE * SIDE, CYCLES = 4, CHARGES = 10 };
static const double published = 0.5307707005734e-04;

// A cube of side^3 points, periodic in all directions, x fastest.
struct grid {
  int side;
  double *at;
};

// Weights of the centre, its 6 face, 12 edge and 8 corner neighbours.
struct stencil {
  double weight[4];
};
static const struct stencil laplace = {{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}};
static const struct stencil smoother = {{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}};
static const struct stencil restriction = {{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16}};

static struct grid new_grid(int side) {
  return (struct grid){side, calloc((size_t)side * side * side, sizeof(double))};
}

static inline size_t point(struct grid g, int x, int y, int z) {
  int wrap = g.side - 1;
  return ((size_t)(z & wrap) * g.side + (y & wrap)) * g.side + (x & wrap);
}

static double apply(struct stencil s, struct grid g, int x, int y, int z) {
  double sum[4] = {0};
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++)
        sum[abs(dx) + abs(dy) + abs(dz)] += g.at[point(g, x + dx, y + dy, z + dz)];
  return s.weight[0] * sum[0] + s.weight[1] * sum[1] + s.weight[2] * sum[2] + s.weight[3] * sum[3];
}

// out = base + factor * (s applied to in); out may be base.
static void combine(struct grid out, struct grid base, double factor, struct stencil s,
                    struct grid in) {
#pragma omp parallel for collapse(2)
  for (int z = 0; z < out.side; z++)
    for (int y = 0; y < out.side; y++)
      for (int x = 0; x < out.side; x++) {
        size_t i = point(out, x, y, z);
        out.at[i] = base.at[i] + factor * apply(s, in, x, y, z);
      }
}

// Coarse point j lies on fine point 2 j + 1.
static void restrict_to(struct grid coarse, struct grid fine) {
#pragma omp parallel for collapse(2)
  for (int z = 0; z < coarse.side; z++)
    for (int y = 0; y < coarse.side; y++)
      for (int x = 0; x < coarse.side; x++)
        coarse.at[point(coarse, x, y, z)] =
            apply(restriction, fine, 2 * x + 1, 2 * y + 1, 2 * z + 1);
}

// fine += the trilinear interpolation of coarse.
static void add_interpolated(struct grid fine, struct grid coarse) {
#pragma omp parallel for schedule(static, 2)
  for (int z = 0; z < fine.side; z++)
    for (int y = 0; y < fine.side; y++)
      for (int x = 0; x < fine.side; x++) {
        double sum = 0;
        for (int corner = 0; corner < 8; corner++)
          sum += coarse.at[point(coarse, (x - (corner & 1)) >> 1, (y - (corner >> 1 & 1)) >> 1,
                                 (z - (corner >> 2)) >> 1)];
        fine.at[point(fine, x, y, z)] += sum / 8;
      }
}

static void clear(struct grid g) {
#pragma omp parallel for
  for (int i = 0; i < g.side * g.side * g.side; i++)
    g.at[i] = 0;
}

static double norm(struct grid g) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < POINTS; i++)
    sum += g.at[i] * g.at[i];
  return sqrt(sum / POINTS);
}

struct extremes {
  double value[CHARGES];  // largest first
  int at[CHARGES];
};

static void insert(struct extremes *e, double value, int at) {
  int i = CHARGES;
  for (; i > 0 && e->value[i - 1] < value; i--)
    if (i < CHARGES) {
      e->value[i] = e->value[i - 1];
      e->at[i] = e->at[i - 1];
    }
  if (i < CHARGES) {
    e->value[i] = value;
    e->at[i] = at;
  }
}

static void merge(struct extremes *into, const struct extremes *from) {
  for (int i = 0; i < CHARGES; i++)
    insert(into, from->value[i], from->at[i]);
}

static void forget(struct extremes *e) {
  for (int i = 0; i < CHARGES; i++) {
    e->value[i] = -2;
    e->at[i] = -1;
  }
}

#pragma omp declare reduction(extreme : struct extremes : merge(&omp_out, &omp_in)) \
    initializer(forget(&omp_priv))

static void place_charges(struct grid v) {
  struct extremes high, low;
  forget(&high);
  forget(&low);
#pragma omp parallel for reduction(extreme : high, low)
  for (int z = 0; z < SIDE; z++) {
    uint64_t seed = lcg_jump(314159265, (uint64_t)SIDE * SIDE * z);
    for (int i = z * SIDE * SIDE; i < (z + 1) * SIDE * SIDE; i++) {
      double value = lcg_next(&seed);
      insert(&high, value, i);
      insert(&low, -value, i);
    }
  }
  for (int i = 0; i < CHARGES; i++) {
    printf("charge +1 at %d, -1 at %d\n", high.at[i], low.at[i]);
    v.at[high.at[i]] = 1;
    v.at[low.at[i]] = -1;
  }
}

int main(void) {
  // Level k has side 2^(k+1); r is the residual, z the correction.
  struct grid r[LEVELS], z[LEVELS];
  for (int k = 0; k < LEVELS; k++) {
    r[k] = new_grid(2 << k);
    z[k] = new_grid(2 << k);
  }
  int top = LEVELS - 1;
  struct grid u = z[top], v = new_grid(SIDE);
  place_charges(v);

  combine(r[top], v, -1, laplace, u);
  printf("initial residual %.13e\n", norm(r[top]));
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    for (int k = top; k > 0; k--)
      restrict_to(r[k - 1], r[k]);
    clear(z[0]);
    combine(z[0], z[0], 1, smoother, r[0]);
    for (int k = 1; k <= top; k++) {
      struct grid right_side = k < top ? r[k] : v;
      if (k < top)
        clear(z[k]);
      add_interpolated(z[k], z[k - 1]);
      combine(r[k], right_side, -1, laplace, z[k]);
      combine(z[k], z[k], 1, smoother, r[k]);
    }
    combine(r[top], v, -1, laplace, u);
    printf("cycle %d: residual %.13e\n", cycle + 1, norm(r[top]));
  }

  double residual = norm(r[top]);
  int right = fabs(residual - published) / published <= 1e-8;
  printf("MG class S: verification %s\n", right ? "successful" : "failed");
  for (int k = 0; k < LEVELS; k++) {
    free(r[k].at);
    free(z[k].at);
  }
  free(v.at);
  return !right;
}
