#include <omp.h>
extern omp_lock_t lock;
void first(int *out, int n);
long second(int *out, int n);
