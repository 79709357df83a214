// Vector types, of odd lengths too.
// RUN: %S/compile %plugin %s
typedef float v4 __attribute__((vector_size(16)));
typedef double v8 __attribute__((vector_size(64)));
typedef int i4 __attribute__((vector_size(16)));
typedef float v3 __attribute__((ext_vector_type(3)));
v4 shared_vector, shared_array[64];
v3 threes[10];
static v8 add(v8 a, v8 b) { return a + b; }
v4 by_value(v4 a, i4 mask) { return __builtin_shufflevector(a, (v4){mask[0], 1, 2, 3}, 0, 5, 2, 7); }

int main(void) {
  v8 wide = {1, 2, 3};
  v4 sum = {0};
#pragma omp parallel for firstprivate(wide)
  for (int i = 0; i < 64; i++) {
    v4 a = {i, i + 1, i + 2, i + 3};
    i4 less = a < (v4){10, 20, 30, 40};
    shared_array[i] = by_value(a, less) * 2.0f + shared_vector;
    wide = add(wide, __builtin_convertvector((__attribute__((vector_size(32))) float){i}, v8));
    threes[i % 10].xy = threes[(i + 1) % 10].yz;
  }
#pragma omp parallel for
  for (int i = 0; i < 64; i++)
#pragma omp critical
    sum += shared_array[i];
  return sum[0] > 0 ? 0 : 1;
}
