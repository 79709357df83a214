// Steady flow without friction or rotation around an airfoil: the equation of the full potential, on a mesh of quadrangles.
// Bilinear finite elements with Gauss's rule of two points in each direction; Newton's method, whose systems conjugate gradients
// solve in part, element by element: no matrix is there but that of each cell. Far away the potential is that of the free
// flow, and nothing flows through the airfoil. Above and below it the flow is the same, so nothing flows through the line behind
// it, either, on which both halves of the mesh have nodes of their own.
//
//   aero FILE ITERATIONS [FIRST]      FILE is what `mesh` writes; also prints the times of so many FIRST iterations
#include "op_seq.h"

#include <cmath>

// Ratio of specific heats minus one, and 1 through that; the square of the free flow's Mach number; at each point of the rule
// its weight, and how the four shape functions rise along both sides of the square.
double gm1, gm1i, m2, weights[4], rises[32];

// Of the flow in which the potential rises so at a point: the square of sound's speed, relative to the free flow's, and what
// there is in a volume.
static inline double sound(double const *rise) { return 1 + 0.5 * gm1 * m2 * (1 - (rise[0] * rise[0] + rise[1] * rise[1])); }
static inline double density(double sound) { return pow(sound, gm1i); }

// How the shape functions rise along x and y at a point of a cell's rule; its part of the area.
static inline double rise_of(double const **x, int point, double (*rise)[2]) {
  double const *along = rises + 8 * point;
  double xs = 0, xt = 0, ys = 0, yt = 0;
  for (int k = 0; k < 4; k++) {
    xs += along[2 * k] * x[k][0], xt += along[2 * k + 1] * x[k][0];
    ys += along[2 * k] * x[k][1], yt += along[2 * k + 1] * x[k][1];
  }
  double const area = xs * yt - xt * ys;
  for (int k = 0; k < 4; k++) {
    rise[k][0] = (along[2 * k] * yt - along[2 * k + 1] * ys) / area;
    rise[k][1] = (along[2 * k + 1] * xs - along[2 * k] * xt) / area;
  }
  return weights[point] * area;
}

static inline void velocity(double const (*rise)[2], double const **phi, double *u) {
  u[0] = u[1] = 0;
  for (int k = 0; k < 4; k++)
    u[0] += rise[k][0] * phi[k][0], u[1] += rise[k][1] * phi[k][0];
}

// A cell's part of what comes and goes at its nodes, and how that changes with the potential at each.
static void res_calc(double const **x, double const **phi, double *K, double **res) {
  for (int k = 0; k < 16; k++)
    K[k] = 0;
  for (int point = 0; point < 4; point++) {
    double rise[4][2], u[2], along[4];
    double const area = rise_of(x, point, rise);
    velocity(rise, phi, u);
    double const c2 = sound(u), rho = area * density(c2), thins = m2 / c2;
    for (int k = 0; k < 4; k++) {
      along[k] = u[0] * rise[k][0] + u[1] * rise[k][1];
      res[k][0] += rho * along[k];
    }
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        K[4 * i + j] += rho * (rise[i][0] * rise[j][0] + rise[i][1] * rise[j][1] - thins * along[i] * along[j]);
  }
}

static void dirichlet(double *res) { *res = 0; }

static void init_cg(double const *r, double *rr, double *u, double *v, double *p) {
  *rr += *r * *r;
  *u = *v = 0;
  *p = *r;
}

static void spMV(double **v, double const *K, double const **p) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      v[i][0] += K[4 * i + j] * p[j][0];
}

static void dotPV(double const *p, double const *v, double *sum) { *sum += *p * *v; }

static void updateUR(double *u, double *r, double const *p, double *v, double const *alpha) {
  *u += *alpha * *p;
  *r -= *alpha * *v;
  *v = 0;
}

static void dotR(double const *r, double *sum) { *sum += *r * *r; }
static void updateP(double const *r, double *p, double const *beta) { *p = *r + *beta * *p; }

static void update(double *phi, double *res, double const *u, double *rms) {
  *phi -= *u;
  *res = 0;
  *rms += *u * *u;
}

// The highest of a cell's Mach numbers, squared.
static void mach_calc(double const **x, double const **phi, double *most) {
  for (int point = 0; point < 4; point++) {
    double rise[4][2], u[2];
    rise_of(x, point, rise);
    velocity(rise, phi, u);
    double const mach = m2 * (u[0] * u[0] + u[1] * u[1]) / sound(u);
    *most = mach > *most ? mach : *most;
  }
}

static FILE *mesh_file;

// The next `count` numbers of the mesh.
template <class T> static void read(T *numbers, int count, char const *format) {
  for (int k = 0; k < count; k++)
    if (fscanf(mesh_file, format, numbers + k) != 1) {
      op_printf("the mesh ends too early\n");
      exit(1);
    }
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const iterations = argc > 2 ? atoi(argv[2]) : 0, first = argc > 3 ? atoi(argv[3]) : 0;
  mesh_file = argc > 2 ? fopen(argv[1], "r") : NULL;
  if (!mesh_file || iterations < 1) {
    op_printf("usage: aero FILE ITERATIONS, with a mesh that can be read\n");
    return 2;
  }
  int sizes[4], skipped[4];
  read(sizes, 4, "%d");
  int const nnode = sizes[0], ncell = sizes[1];
  double *x = (double *)malloc(sizeof(double) * 2 * nnode), *phi = (double *)malloc(sizeof(double) * nnode);
  int *cell = (int *)malloc(sizeof(int) * 4 * ncell);
  int *far = (int *)malloc(sizeof(int) * nnode), nbnode = 0;
  char *is_far = (char *)calloc(nnode, 1);
  read(x, 2 * nnode, "%lf");
  read(cell, 4 * ncell, "%d");
  for (int e = 0; e < sizes[2]; e++)
    read(skipped, 4, "%d");
  for (int e = 0; e < sizes[3]; e++) {
    int bound[4];  // two nodes, a cell, and 1 at the airfoil
    read(bound, 4, "%d");
    is_far[bound[0]] |= bound[3] != 1;
    is_far[bound[1]] |= bound[3] != 1;
  }
  fclose(mesh_file);
  for (int n = 0; n < nnode; n++) {
    phi[n] = x[2 * n];
    if (is_far[n])
      far[nbnode++] = n;
  }

  gm1 = 0.4;
  gm1i = 1 / gm1;
  m2 = 0.4 * 0.4;
  double const gauss[2] = {0.5 - sqrt(1.0 / 12), 0.5 + sqrt(1.0 / 12)};
  for (int point = 0; point < 4; point++) {
    double const s = gauss[point & 1], t = gauss[point >> 1];
    double const all[8] = {t - 1, s - 1, 1 - t, -s, t, s, -t, 1 - s};
    weights[point] = 0.25;
    for (int k = 0; k < 8; k++)
      rises[8 * point + k] = all[k];
  }

  op_set nodes = op_decl_set(nnode, "nodes"), bnodes = op_decl_set(nbnode, "bnodes"), cells = op_decl_set(ncell, "cells");
  op_map pcell = op_decl_map(cells, nodes, 4, cell, "pcell"), pbnodes = op_decl_map(bnodes, nodes, 1, far, "pbnodes");
  op_dat p_x = op_decl_dat(nodes, 2, "double", x, "p_x"), p_phi = op_decl_dat(nodes, 1, "double", phi, "p_phi");
  double *const zeros = NULL;
  op_dat p_res = op_decl_dat(nodes, 1, "double", zeros, "p_res"), p_K = op_decl_dat(cells, 16, "double", zeros, "p_K");
  op_dat p_v = op_decl_dat(nodes, 1, "double", zeros, "p_v"), p_p = op_decl_dat(nodes, 1, "double", zeros, "p_p");
  op_dat p_u = op_decl_dat(nodes, 1, "double", zeros, "p_u");
  op_decl_const(1, "double", &gm1);
  op_decl_const(1, "double", &gm1i);
  op_decl_const(1, "double", &m2);
  op_decl_const(4, "double", weights);
  op_decl_const(32, "double", rises);
  free(x), free(phi), free(cell), free(far), free(is_far);
  op_partition("", "", nodes, pcell, p_x);

  double cpu, start, end;
  op_timers(&cpu, &start);
  for (int iteration = 1; iteration <= iterations; iteration++) {
    op_par_loop(res_calc, "res_calc", cells, op_arg_dat(p_x, -4, pcell, 2, "double", OP_READ),
                op_arg_dat(p_phi, -4, pcell, 1, "double", OP_READ), op_arg_dat(p_K, -1, OP_ID, 16, "double", OP_WRITE),
                op_arg_dat(p_res, -4, pcell, 1, "double", OP_INC));
    op_par_loop(dirichlet, "dirichlet", bnodes, op_arg_dat(p_res, 0, pbnodes, 1, "double", OP_WRITE));
    double rr = 0;
    op_par_loop(init_cg, "init_cg", nodes, op_arg_dat(p_res, -1, OP_ID, 1, "double", OP_READ),
                op_arg_gbl(&rr, 1, "double", OP_INC), op_arg_dat(p_u, -1, OP_ID, 1, "double", OP_WRITE),
                op_arg_dat(p_v, -1, OP_ID, 1, "double", OP_WRITE), op_arg_dat(p_p, -1, OP_ID, 1, "double", OP_WRITE));
    double const enough = 0.01 * rr;
    for (int step = 0; step < 20 && rr > enough; step++) {
      op_par_loop(spMV, "spMV", cells, op_arg_dat(p_v, -4, pcell, 1, "double", OP_INC),
                  op_arg_dat(p_K, -1, OP_ID, 16, "double", OP_READ), op_arg_dat(p_p, -4, pcell, 1, "double", OP_READ));
      op_par_loop(dirichlet, "dirichlet", bnodes, op_arg_dat(p_v, 0, pbnodes, 1, "double", OP_WRITE));
      double pv = 0;
      op_par_loop(dotPV, "dotPV", nodes, op_arg_dat(p_p, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(p_v, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&pv, 1, "double", OP_INC));
      double const alpha = rr / pv;
      op_par_loop(updateUR, "updateUR", nodes, op_arg_dat(p_u, -1, OP_ID, 1, "double", OP_RW),
                  op_arg_dat(p_res, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(p_p, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(p_v, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&alpha, 1, "double", OP_READ));
      double const before = rr;
      rr = 0;
      op_par_loop(dotR, "dotR", nodes, op_arg_dat(p_res, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&rr, 1, "double", OP_INC));
      double const beta = rr / before;
      op_par_loop(updateP, "updateP", nodes, op_arg_dat(p_res, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(p_p, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&beta, 1, "double", OP_READ));
    }
    double rms = 0;
    op_par_loop(update, "update", nodes, op_arg_dat(p_phi, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(p_res, -1, OP_ID, 1, "double", OP_WRITE), op_arg_dat(p_u, -1, OP_ID, 1, "double", OP_READ),
                op_arg_gbl(&rms, 1, "double", OP_INC));
    if (iteration % 100 == 0 || iteration == iterations)
      op_printf("%d %.15e\n", iteration, sqrt(rms / op_get_size(nodes)));
    if (iteration == first) {
      op_timing_output();
      op_printf("these were the first iterations\n");
    }
  }
  op_timers(&cpu, &end);
  double most = 0;
  op_par_loop(mach_calc, "mach_calc", cells, op_arg_dat(p_x, -4, pcell, 2, "double", OP_READ),
              op_arg_dat(p_phi, -4, pcell, 1, "double", OP_READ), op_arg_gbl(&most, 1, "double", OP_MAX));
  op_printf("the highest Mach number is %.15f\n", sqrt(most));
  op_printf("time %.3f\n", end - start);
  op_timing_output();
  op_exit();
  return 0;
}
