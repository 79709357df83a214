// User-declared reductions of structs, with initialisers, several in one clause.
// threads: any
#include <float.h>
#include <stdio.h>

struct location {
  double value;
  int index;
};
struct moments {
  long n, sum, squares;
};

static void pick(struct location *out, const struct location *in) {
  if (in->value < out->value || (in->value == out->value && in->index < out->index)) *out = *in;
}

#pragma omp declare reduction(first_min : struct location : pick(&omp_out, &omp_in))               \
    initializer(omp_priv = {DBL_MAX, 1 << 30})
#pragma omp declare reduction(+ : struct moments : omp_out.n += omp_in.n,                          \
                                  omp_out.sum += omp_in.sum, omp_out.squares += omp_in.squares)    \
    initializer(omp_priv = {0, 0, 0})
#pragma omp declare reduction(top : int : omp_out = omp_in > omp_out ? omp_in : omp_out)           \
    initializer(omp_priv = omp_orig)

int main(void) {
  struct location best = {DBL_MAX, -1}, list[2] = {{5, 5}, {6, 6}};
  struct moments moments = {1, 1, 1};
#pragma omp parallel for reduction(first_min : best, list) reduction(+ : moments)
  for (int i = 0; i < 300; i++) {
    struct location here = {(i * 17 + 200) % 101 * 0.5, i};
    pick(&best, &here);
    pick(&list[i % 2], &here);
    moments.n++;
    moments.sum += i;
    moments.squares += (long)i * i;
  }
  printf("%.1f %d %.1f %d %.1f %d\n", best.value, best.index, list[0].value, list[0].index,
         list[1].value, list[1].index);
  printf("%ld %ld %ld\n", moments.n, moments.sum, moments.squares);
  int low = 24, high = 50;
#pragma omp parallel for reduction(top : low, high)
  for (int i = 0; i < 8; i++) {
    if (i * 5 > low) low = i * 5;
    if (i * 5 > high) high = i * 5;
  }
  printf("%d %d\n", low, high);
  return 0;
}
