// Pairs of Jacobi's sweeps over a plane, to `a` and back to `b`: what all ways to run them share. Nobody reads `a` behind a pair but
// for its border, which is set before. With THIRD the second sweep of a pair is to a third plane, and reads no border of `a`; the
// next pair is back from there, so that there is an even number of them.
#ifndef JACOBI_H
#define JACOBI_H

#include "chains.h"

// Rows and columns inside, and pairs in a run.
extern int size, pairs;
extern double *plane_a, *plane_b, *plane_c;

#define A(i, j) a[(i) * width + (j)]
#define B(i, j) b[(i) * width + (j)]
#define C(i, j) c[(i) * width + (j)]
#define SWEPT(X, i, j) (X((i) - 1, j) + X(i, j) + X((i) + 1, j) + X(i, (j) - 1) + X(i, (j) + 1)) * 0.2

#endif
