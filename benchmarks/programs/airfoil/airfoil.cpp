// Inviscid flow around an airfoil: the two-dimensional Euler equations on a mesh of quadrangles, marched in
// time to a steady state. Finite volumes with the state in the cells; fluxes are the mean of both sides and
// a little of their difference for stability.
//
//   airfoil FILE ITERATIONS [FIRST]      FILE is what `mesh` writes; also prints the times of so many FIRST iterations
#include "op_seq.h"

#include <cmath>

// Ratio of specific heats and that minus one; Courant number; strength of the smoothing; the state far away:
// density, momentum in x and y, energy.
double gam, gm1, cfl, eps, qinf[4];

static void save_soln(double const *q, double *qold) {
  for (int k = 0; k < 4; k++)
    qold[k] = q[k];
}

// A measure of the cell's area over its time step: how fast waves leave it, summed over its sides.
static void adt_calc(double const *x1, double const *x2, double const *x3, double const *x4,
                     double const *q, double *adt) {
  double const volume = 1 / q[0], u = volume * q[1], v = volume * q[2];
  double const sound = sqrt(gam * gm1 * (volume * q[3] - 0.5 * (u * u + v * v)));
  double const dx[4] = {x2[0] - x1[0], x3[0] - x2[0], x4[0] - x3[0], x1[0] - x4[0]};
  double const dy[4] = {x2[1] - x1[1], x3[1] - x2[1], x4[1] - x3[1], x1[1] - x4[1]};
  double sum = 0;
  for (int side = 0; side < 4; side++)
    sum += fabs(u * dy[side] - v * dx[side]) +
           sound * sqrt(dx[side] * dx[side] + dy[side] * dy[side]);
  *adt = sum / cfl;
}

static inline double pressure(double const *q) {
  return gm1 * (q[3] - 0.5 * (q[1] * q[1] + q[2] * q[2]) / q[0]);
}

// What flows through an edge: out of the first cell, into the second.
static void res_calc(double const *x1, double const *x2, double const *q1, double const *q2,
                     double const *adt1, double const *adt2, double *res1, double *res2) {
  double const dx = x1[0] - x2[0], dy = x1[1] - x2[1];
  double const p1 = pressure(q1), p2 = pressure(q2);
  double const through1 = (q1[1] * dy - q1[2] * dx) / q1[0];
  double const through2 = (q2[1] * dy - q2[2] * dx) / q2[0];
  double const smoothing = 0.5 * (*adt1 + *adt2) * eps;
  double const flux[4] = {
      0.5 * (through1 * q1[0] + through2 * q2[0]),
      0.5 * (through1 * q1[1] + p1 * dy + through2 * q2[1] + p2 * dy),
      0.5 * (through1 * q1[2] - p1 * dx + through2 * q2[2] - p2 * dx),
      0.5 * (through1 * (q1[3] + p1) + through2 * (q2[3] + p2)),
  };
  for (int k = 0; k < 4; k++) {
    double const f = flux[k] + smoothing * (q1[k] - q2[k]);
    res1[k] += f;
    res2[k] -= f;
  }
}

// The same at the border: at a wall only the pressure acts, elsewhere the far state is on the other side.
static void bres_calc(double const *x1, double const *x2, double const *q, double const *adt,
                      double *res, int const *bound) {
  double const dx = x1[0] - x2[0], dy = x1[1] - x2[1], p = pressure(q);
  if (*bound == 1) {
    res[1] += p * dy;
    res[2] -= p * dx;
    return;
  }
  double const far = pressure(qinf);
  double const through = (q[1] * dy - q[2] * dx) / q[0];
  double const through_far = (qinf[1] * dy - qinf[2] * dx) / qinf[0];
  double const smoothing = *adt * eps;
  double const flux[4] = {
      0.5 * (through * q[0] + through_far * qinf[0]),
      0.5 * (through * q[1] + p * dy + through_far * qinf[1] + far * dy),
      0.5 * (through * q[2] - p * dx + through_far * qinf[2] - far * dx),
      0.5 * (through * (q[3] + p) + through_far * (qinf[3] + far)),
  };
  for (int k = 0; k < 4; k++)
    res[k] += flux[k] + smoothing * (q[k] - qinf[k]);
}

static void update(double const *qold, double *q, double *res, double const *adt, double *rms) {
  for (int k = 0; k < 4; k++) {
    double const change = res[k] / *adt;
    q[k] = qold[k] - change;
    res[k] = 0;
    *rms += change * change;
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
    op_printf("usage: airfoil FILE ITERATIONS, with a mesh that can be read\n");
    return 2;
  }
  int sizes[4];
  read(sizes, 4, "%d");
  int const nnode = sizes[0], ncell = sizes[1], nedge = sizes[2], nbedge = sizes[3];
  double *x = (double *)malloc(sizeof(double) * 2 * nnode);
  int *cell = (int *)malloc(sizeof(int) * 4 * ncell);
  int *edge = (int *)malloc(sizeof(int) * 2 * nedge), *ecell = (int *)malloc(sizeof(int) * 2 * nedge);
  int *bedge = (int *)malloc(sizeof(int) * 2 * nbedge), *becell = (int *)malloc(sizeof(int) * nbedge);
  int *bound = (int *)malloc(sizeof(int) * nbedge);
  read(x, 2 * nnode, "%lf");
  read(cell, 4 * ncell, "%d");
  for (int e = 0; e < nedge; e++) {
    read(edge + 2 * e, 2, "%d");
    read(ecell + 2 * e, 2, "%d");
  }
  for (int e = 0; e < nbedge; e++) {
    read(bedge + 2 * e, 2, "%d");
    read(becell + e, 1, "%d");
    read(bound + e, 1, "%d");
  }
  fclose(mesh_file);

  // Air at Mach 0.4, from straight ahead. The usual constants are single-precision numbers.
  gam = 1.4f;
  gm1 = gam - 1.0f;
  cfl = 0.9f;
  eps = 0.05f;
  double const mach = 0.4f, speed = sqrt(gam) * mach;
  qinf[0] = 1;
  qinf[1] = speed;
  qinf[2] = 0;
  qinf[3] = 1 / gm1 + 0.5 * speed * speed;
  double *q = (double *)malloc(sizeof(double) * 4 * ncell);
  for (int k = 0; k < 4 * ncell; k++)
    q[k] = qinf[k % 4];

  op_set nodes = op_decl_set(nnode, "nodes"), cells = op_decl_set(ncell, "cells");
  op_set edges = op_decl_set(nedge, "edges"), bedges = op_decl_set(nbedge, "bedges");
  op_map pcell = op_decl_map(cells, nodes, 4, cell, "pcell");
  op_map pedge = op_decl_map(edges, nodes, 2, edge, "pedge");
  op_map pecell = op_decl_map(edges, cells, 2, ecell, "pecell");
  op_map pbedge = op_decl_map(bedges, nodes, 2, bedge, "pbedge");
  op_map pbecell = op_decl_map(bedges, cells, 1, becell, "pbecell");
  op_dat p_x = op_decl_dat(nodes, 2, "double", x, "p_x");
  op_dat p_bound = op_decl_dat(bedges, 1, "int", bound, "p_bound");
  op_dat p_q = op_decl_dat(cells, 4, "double", q, "p_q");
  op_dat p_qold = op_decl_dat(cells, 4, "double", (double *)NULL, "p_qold");
  op_dat p_adt = op_decl_dat(cells, 1, "double", (double *)NULL, "p_adt");
  op_dat p_res = op_decl_dat(cells, 4, "double", (double *)NULL, "p_res");
  op_decl_const(1, "double", &gam);
  op_decl_const(1, "double", &gm1);
  op_decl_const(1, "double", &cfl);
  op_decl_const(1, "double", &eps);
  op_decl_const(4, "double", qinf);
  free(x), free(cell), free(edge), free(ecell), free(bedge), free(becell), free(bound), free(q);
  op_partition("", "", cells, pecell, p_x);

  double cpu, start, end;
  op_timers(&cpu, &start);
  for (int iteration = 1; iteration <= iterations; iteration++) {
    double rms = 0;
    op_par_loop(save_soln, "save_soln", cells, op_arg_dat(p_q, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(p_qold, -1, OP_ID, 4, "double", OP_WRITE));
    for (int step = 0; step < 2; step++) {
      op_par_loop(adt_calc, "adt_calc", cells, op_arg_dat(p_x, 0, pcell, 2, "double", OP_READ),
                  op_arg_dat(p_x, 1, pcell, 2, "double", OP_READ),
                  op_arg_dat(p_x, 2, pcell, 2, "double", OP_READ),
                  op_arg_dat(p_x, 3, pcell, 2, "double", OP_READ),
                  op_arg_dat(p_q, -1, OP_ID, 4, "double", OP_READ),
                  op_arg_dat(p_adt, -1, OP_ID, 1, "double", OP_WRITE));
      op_par_loop(res_calc, "res_calc", edges, op_arg_dat(p_x, 0, pedge, 2, "double", OP_READ),
                  op_arg_dat(p_x, 1, pedge, 2, "double", OP_READ),
                  op_arg_dat(p_q, 0, pecell, 4, "double", OP_READ),
                  op_arg_dat(p_q, 1, pecell, 4, "double", OP_READ),
                  op_arg_dat(p_adt, 0, pecell, 1, "double", OP_READ),
                  op_arg_dat(p_adt, 1, pecell, 1, "double", OP_READ),
                  op_arg_dat(p_res, 0, pecell, 4, "double", OP_INC),
                  op_arg_dat(p_res, 1, pecell, 4, "double", OP_INC));
      op_par_loop(bres_calc, "bres_calc", bedges, op_arg_dat(p_x, 0, pbedge, 2, "double", OP_READ),
                  op_arg_dat(p_x, 1, pbedge, 2, "double", OP_READ),
                  op_arg_dat(p_q, 0, pbecell, 4, "double", OP_READ),
                  op_arg_dat(p_adt, 0, pbecell, 1, "double", OP_READ),
                  op_arg_dat(p_res, 0, pbecell, 4, "double", OP_INC),
                  op_arg_dat(p_bound, -1, OP_ID, 1, "int", OP_READ));
      rms = 0;
      op_par_loop(update, "update", cells, op_arg_dat(p_qold, -1, OP_ID, 4, "double", OP_READ),
                  op_arg_dat(p_q, -1, OP_ID, 4, "double", OP_WRITE),
                  op_arg_dat(p_res, -1, OP_ID, 4, "double", OP_RW),
                  op_arg_dat(p_adt, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&rms, 1, "double", OP_INC));
    }
    if (iteration % 100 == 0 || iteration == iterations)
      op_printf("%d %10.5e\n", iteration, sqrt(rms / op_get_size(cells)));
    if (iteration == first) {
      op_timing_output();
      op_printf("these were the first iterations\n");
    }
  }
  op_timers(&cpu, &end);
  op_printf("time %.3f\n", end - start);
  op_timing_output();
  op_exit();
  return 0;
}
