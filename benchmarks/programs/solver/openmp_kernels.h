// The loops of the solver, which all threads of a team call, and its data. A line has n + 2 numbers.
#ifndef OPENMP_KERNELS_H
#define OPENMP_KERNELS_H

extern int n;
extern double *heat, *residual, *direction, *image, *conductivity;

void set_up(void);
double begin_step(void);
double product(void);
double descend(double alpha);
void turn(double beta);

#endif
