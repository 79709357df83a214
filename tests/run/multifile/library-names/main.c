// Functions of the program that have the names of some in the C library, defined in another file and in a library: what
// they do counts, under the locks of the regions that call them.
// ranks: 2 3 4
// expect-stderr: it calls gamma (in
// expect-stderr: it calls y1 (in
#include <stdio.h>

double gamma(double);
double y1(double);
int n, m[4000];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp critical(k)
    n++;
    gamma(i);
  }
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp critical(k)
    n++;
    y1(i);
  }
  int most = 0;
  for (int i = 0; i < 4000; i++)
    most = m[i] > most ? m[i] : most;
  printf("%d %d\n", n, most);
  return 0;
}
