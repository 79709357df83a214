// The kernels, whoever runs them.

#pragma once

void saxpy(const int n, const float a, const float *x, float *y);
void stencil(const int n, const float *u, float *v);
void reduction(const int n, const float *a, float *sums);
void product(const int n, const float *a, const float *b, float *c);
void edges(const int n, const int *ends, const double *value, double *sums);
void polynomial(const int n, const double *x, double *y);
void functions(const int n, const double *x, double *y);
void transpose(const int n, const float *a, float *b);
void sparse(const int rows, const int *first, const int *column, const double *value, const double *x, double *y);
void wave(const int n, const float c, const float *now, float *next);
// Those of openmp.cpp.
void sweep(const int n, const double *now, double *next);
double distance(const int n, const double *now, const double *next);
void rows(const int n, const double *now, double *next);
void cube(const int n, const double *now, double *next);
struct Moments {
  double first, second, third;
};
Moments moments(const int n, const double *x, const double *y);
struct Extremes {
  double least, most;
};
Extremes extremes(const int n, const double *x);
void axpy(const int n, const double a, const double *x, double *y);
void multiply(const int rows, const int *first, const int *column, const double *value, const double *x, double *y);
void histogram(const int n, const int *of, int *count);
