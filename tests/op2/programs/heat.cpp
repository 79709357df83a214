// Heat in a plate whose conductivity depends on its temperature: bilinear finite elements on quadrangles, the heat flow
// of the last round's conductivity in each round (Picard), conjugate gradients with the diagonal as preconditioner for
// each system, and the temperature of the rim given on a set of its own. The exact solution is known: the error falls by
// a factor of four when the mesh is twice as fine.
//
// All values are those of the program without the plugin: bit by bit where elements run one after the other, within 1e-9
// elsewhere, where sums are added in another order.
//
// RUN: clang++-22 -std=c++11 -O2 -ffp-contract=off -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain write %t.values | FileCheck %s
// RUN: clang++-22 -std=c++11 -O3 -march=native -ffp-contract=off -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: OKL_BACKEND=seq %t write %t.found | FileCheck %s && cmp %t.values %t.found
// RUN: %t compare %t.values | FileCheck --check-prefixes=CHECK,SAME %s
// RUN: for n in 1 3; do OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n $n %t compare %t.values | FileCheck --check-prefixes=CHECK,SAME %s || exit 1; done
// RUN: for n in 2 3; do OMP_NUM_THREADS=$n %t compare %t.values | FileCheck --check-prefixes=CHECK,SAME %s || exit 1; done
// RUN: for n in 1 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t compare %t.values | FileCheck --check-prefixes=CHECK,SAME %s || exit 1; done
// RUN: OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t compare %t.values | FileCheck --check-prefixes=CHECK,SAME %s
// On devices, emulated, with fewer cells:
// RUN: %okl-c++ -std=c++11 -O3 -ffp-contract=off --okl-target=cuda,cpu --okl-strict -DCELLS=5 %s -o %t.device
// RUN: OKL_BACKEND=cpu %t.device write %t.values
// RUN: OKL_BACKEND=cuda-emulated %t.device compare %t.values 2>&1 | FileCheck --check-prefix=SAME --implicit-check-not=okl %s
// RUN: OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated %t.device compare %t.values 2>&1 | FileCheck --check-prefix=SAME --implicit-check-not=okl %s
// RUN: for n in 2 3; do OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $n %t.device compare %t.values 2>&1 | FileCheck --check-prefix=SAME --implicit-check-not=okl %s || exit 1; done
//
// CHECK:      24 x 24: error 1.
// CHECK-NEXT: 48 x 48: error 3.
// CHECK-NEXT: ratio 4.0
// SAME:       agrees
#include "op_seq.h"

#include "results.h"

// Of the coarse mesh, in each direction.
#ifndef CELLS
#define CELLS 24
#endif

// Conductivity 1 + grows * temperature; the places and weights of Gauss's rule with two points.
double grows = 0.5, gauss[2], pi;

static double exact(double x, double y) { return 1 + sin(pi * x) * cos(0.5 * pi * y); }

// The heat that has to come in for that: minus the divergence of (1 + grows u) grad u.
static double source(double x, double y) {
  double const sx = sin(pi * x), cx = cos(pi * x), sy = sin(0.5 * pi * y), cy = cos(0.5 * pi * y);
  double const u = 1 + sx * cy, ux = pi * cx * cy, uy = -0.5 * pi * sx * sy, laplace = -1.25 * pi * pi * sx * cy;
  return -(1 + grows * u) * laplace - grows * (ux * ux + uy * uy);
}

// A cell's part of the system: 16 coefficients, and what it adds to the right side and to the diagonal.
static void assemble(double const **x, double const **u, double *matrix, double **right, double **diagonal) {
  for (int k = 0; k < 16; k++)
    matrix[k] = 0;
  for (int point = 0; point < 4; point++) {
    double const s = gauss[point & 1], t = gauss[point >> 1];
    double const shape[4] = {(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t};
    double const along_s[4] = {t - 1, 1 - t, t, -t}, along_t[4] = {s - 1, -s, s, 1 - s};
    double px = 0, py = 0, xs = 0, xt = 0, ys = 0, yt = 0, temperature = 0;
    for (int k = 0; k < 4; k++) {
      px += shape[k] * x[k][0], py += shape[k] * x[k][1];
      xs += along_s[k] * x[k][0], xt += along_t[k] * x[k][0];
      ys += along_s[k] * x[k][1], yt += along_t[k] * x[k][1];
      temperature += shape[k] * u[k][0];
    }
    double const area = xs * yt - xt * ys, weight = 0.25 * area, conducts = 1 + grows * temperature;
    double gx[4], gy[4];
    for (int k = 0; k < 4; k++) {
      gx[k] = (along_s[k] * yt - along_t[k] * ys) / area;
      gy[k] = (along_t[k] * xs - along_s[k] * xt) / area;
    }
    double const comes = weight * source(px, py);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++)
        matrix[4 * i + j] += weight * conducts * (gx[i] * gx[j] + gy[i] * gy[j]);
      right[i][0] += comes * shape[i];
    }
  }
  for (int k = 0; k < 4; k++)
    diagonal[k][0] += matrix[5 * k];
}

static void multiply(double const *matrix, double const **x, double **product) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      product[i][0] += matrix[4 * i + j] * x[j][0];
}

static void clear(double *one, double *other) { *one = *other = 0; }
static void set_zero(double *there) { *there = 0; }
static void set_exact(double const *x, double *u) { *u = exact(x[0], x[1]); }

// The residual of what is there, and the first direction.
static void begin(double const *right, double *product, double *r) {
  *r = *right - *product;
  *product = 0;
}
static void precondition(double const *r, double const *diagonal, double *z) { *z = *r / *diagonal; }
static void dot(double const *a, double const *b, double *sum) { *sum += *a * *b; }
static void advance(double const *p, double *product, double const *alpha, double *u, double *r) {
  *u += *alpha * *p;
  *r -= *alpha * *product;
  *product = 0;
}
static void turn(double const *z, double const *beta, double *p) { *p = *z + *beta * *p; }

static void error_of(double const **x, double const **u, double *sum) {
  double px = 0, py = 0, middle = 0;
  for (int k = 0; k < 4; k++)
    px += 0.25 * x[k][0], py += 0.25 * x[k][1], middle += 0.25 * u[k][0];
  double const area = 0.5 * fabs((x[2][0] - x[0][0]) * (x[3][1] - x[1][1]) - (x[3][0] - x[1][0]) * (x[2][1] - x[0][1]));
  *sum += area * (middle - exact(px, py)) * (middle - exact(px, py));
}

// Solves on n by n cells; the error in the mean.
static double solve(int n) {
  int const row = n + 1;
  std::vector<double> place, guess(row * row);
  std::vector<int> corner, rim;
  for (int k = 0; k < row * row; k++) {
    double const s = (double)(k % row) / n, t = (double)(k / row) / n, bent = 0.08 * sin(pi * s) * sin(pi * t);
    place.push_back(s + bent), place.push_back(t - bent);
    if (k % row == 0 || k % row == n || k / row == 0 || k / row == n)
      rim.push_back(k);
  }
  for (int k = 0; k < n * n; k++) {
    int const first = k / n * row + k % n;
    int const around[] = {first, first + 1, first + row + 1, first + row};
    corner.insert(corner.end(), around, around + 4);
  }
  op_set nodes = op_decl_set(row * row, "nodes"), cells = op_decl_set(n * n, "cells");
  op_set bnodes = op_decl_set(rim.size(), "bnodes");
  op_map corners = op_decl_map(cells, nodes, 4, corner.data(), "corners");
  op_map on_rim = op_decl_map(bnodes, nodes, 1, rim.data(), "on_rim");
  double *const zeros = NULL;
  op_dat x = op_decl_dat(nodes, 2, "double", place.data(), "x");
  op_dat u = op_decl_dat(nodes, 1, "double", guess.data(), "u");
  op_dat right = op_decl_dat(nodes, 1, "double", zeros, "right");
  op_dat diagonal = op_decl_dat(nodes, 1, "double", zeros, "diagonal");
  op_dat r = op_decl_dat(nodes, 1, "double", zeros, "r"), z = op_decl_dat(nodes, 1, "double", zeros, "z");
  op_dat p = op_decl_dat(nodes, 1, "double", zeros, "p"), product = op_decl_dat(nodes, 1, "double", zeros, "product");
  op_dat matrix = op_decl_dat(cells, 16, "double", zeros, "matrix");
  op_partition("", "", nodes, corners, x);

  auto multiply_by = [&](op_dat by) {
    op_par_loop(multiply, "multiply", cells, op_arg_dat(matrix, -1, OP_ID, 16, "double", OP_READ),
                op_arg_dat(by, -4, corners, 1, "double", OP_READ), op_arg_dat(product, -4, corners, 1, "double", OP_INC));
  };
  auto on_the_rim = [&](op_dat there) {
    op_par_loop(set_zero, "set_zero", bnodes, op_arg_dat(there, 0, on_rim, 1, "double", OP_WRITE));
  };
  auto scalar_product = [&](op_dat a, op_dat b) {
    double sum = 0;
    op_par_loop(dot, "dot", nodes, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(b, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
    return sum;
  };

  op_par_loop(set_exact, "set_exact", bnodes, op_arg_dat(x, 0, on_rim, 2, "double", OP_READ),
              op_arg_dat(u, 0, on_rim, 1, "double", OP_WRITE));
  for (int round = 0; round < 20; round++) {
    op_par_loop(clear, "clear", nodes, op_arg_dat(right, -1, OP_ID, 1, "double", OP_WRITE),
                op_arg_dat(diagonal, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(assemble, "assemble", cells, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
                op_arg_dat(u, -4, corners, 1, "double", OP_READ), op_arg_dat(matrix, -1, OP_ID, 16, "double", OP_WRITE),
                op_arg_dat(right, -4, corners, 1, "double", OP_INC),
                op_arg_dat(diagonal, -4, corners, 1, "double", OP_INC));
    multiply_by(u);
    op_par_loop(begin, "begin", nodes, op_arg_dat(right, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(product, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(r, -1, OP_ID, 1, "double", OP_WRITE));
    on_the_rim(r);
    double const first = sqrt(scalar_product(r, r));
    if (first < 1e-11)
      break;
    double before = 1, beta = 0;
    for (double left = first; left > 1e-3 * first && left > 1e-13;) {
      op_par_loop(precondition, "precondition", nodes, op_arg_dat(r, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(diagonal, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(z, -1, OP_ID, 1, "double", OP_WRITE));
      double const rz = scalar_product(r, z);
      beta = left == first ? 0 : rz / before;
      before = rz;
      op_par_loop(turn, "turn", nodes, op_arg_dat(z, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&beta, 1, "double", OP_READ), op_arg_dat(p, -1, OP_ID, 1, "double", OP_RW));
      multiply_by(p);
      on_the_rim(product);
      double const alpha = rz / scalar_product(p, product);
      op_par_loop(advance, "advance", nodes, op_arg_dat(p, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(product, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&alpha, 1, "double", OP_READ),
                  op_arg_dat(u, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(r, -1, OP_ID, 1, "double", OP_RW));
      left = sqrt(scalar_product(r, r));
    }
  }
  keep(u);
  double sum = 0;
  op_par_loop(error_of, "error_of", cells, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
              op_arg_dat(u, -4, corners, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  op_printf("%d x %d: error %.1e\n", n, n, sqrt(sum));
  return sqrt(sum);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  pi = acos(-1.0);
  gauss[0] = 0.5 - sqrt(1.0 / 12), gauss[1] = 0.5 + sqrt(1.0 / 12);
  op_decl_const(1, "double", &grows);
  op_decl_const(2, "double", gauss);
  op_decl_const(1, "double", &pi);
  double const coarse = solve(CELLS), fine = solve(2 * CELLS);
  op_printf("ratio %.1f\n", coarse / fine);
  int const status = finish(argc, argv, 1e-9);
  op_exit();
  return status;
}
