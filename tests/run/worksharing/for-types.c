// Loop variables of every integer type, up to the ends of their ranges, upwards and downwards.
// threads: any
#include <limits.h>
#include <stdio.h>

int main(void) {
  unsigned long sum = 0;
  int n = 0;
#pragma omp parallel for reduction(+ : sum, n)
  for (unsigned long i = ULONG_MAX - 20; i < ULONG_MAX - 3; i++) sum += i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n) schedule(static, 2)
  for (unsigned i = UINT_MAX; i > UINT_MAX - 30; i -= 7) sum += i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n) schedule(dynamic, 3)
  for (long i = LONG_MIN; i < LONG_MIN + 50; i += 4) sum += (unsigned long)i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n) schedule(dynamic)
  for (unsigned long i = 1UL << 63; i < (1UL << 63) + 100; i += 9) sum += i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n)
  for (int i = INT_MIN; i < INT_MIN + 11; i++) sum += (unsigned long)i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n) schedule(guided)
  for (unsigned i = 4000000000u; i < 4000000100u; i += 3) sum += i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n)
  for (short i = -100; i <= 100; i += 9) sum += (unsigned long)i, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n)
  for (char c = 'a'; c <= 'z'; c++) sum += (unsigned long)c, n++;
  printf("%lu %d\n", sum, n);
#pragma omp parallel for reduction(+ : sum, n)
  for (unsigned char c = 255; c > 3; c -= 5) sum += c, n++;
  printf("%lu %d\n", sum, n);
  return 0;
}
