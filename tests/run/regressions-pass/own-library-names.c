// Functions of the program that have names of the C library, and other parameters: MPI's libraries call the C library's.
// threads: any
#include <stdio.h>

enum { N = 1000 };

static double x[N], y[N];
static int calls;

void read(double *to, int n) {
  calls++;
  for (int i = 0; i < n; i++) to[i] = i;
}
void write(const double *from, int n) {
  calls++;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += from[i];
  printf("%g\n", sum);
}
int poll(int n) { return n + 1; }
int connect(int a, int b) { return a * b; }
double socket(double x) { return x / 2; }
double recv(double x) { return x * 2; }
double send(double x) { return x + 3; }

int main(void) {
  read(x, N);
#pragma omp parallel for
  for (int i = 0; i < N; i++) y[i] = send(recv(x[i])) + socket(i) + poll(i) + connect(i, 3);
  write(y, N);
  printf("%d\n", calls);
}
