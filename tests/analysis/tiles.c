// Tiled loops: the parts of a range, the last of which may be shorter, are the range.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

static inline int min(int a, int b) { return a < b ? a : b; }

// CHECK: region at {{.*}}tiles.c:[[@LINE+4]]: complete
// CHECK: read from [{{.*}} x 8] [max(0, min(n, (32 + (32 * ((-1 + n) / 32))))) x (8 * n)] of 8 bytes
// CHECK-NEXT: write to [{{.*}} x (8 * n)] [max(0, min(n, (32 + (32 * ((-1 + n) / 32))))) x 8] of 8 bytes
void clipped(const double *from, double *to, int n) {
#pragma omp parallel for
  for (int ii = 0; ii < n; ii += 32)
    for (int jj = 0; jj < n; jj += 32)
      for (int i = ii; i < min(ii + 32, n); i++)
        for (int j = jj; j < min(jj + 32, n); j++) to[i * n + j] = from[j * n + i] + i;
}

// Constant sizes, of which LLVM knows that nothing is negative.
// CHECK: region at {{.*}}tiles.c:[[@LINE+5]]: complete
// CHECK: write to [{{.*}} x 131072] [16 x 256] [32 x 4096] of 256 bytes
// CHECK: region at {{.*}}tiles.c:[[@LINE+10]]: complete
// CHECK: write to [{{.*}} x 131072] [16 x 256] [32 x 4096] of 256 bytes
void constant(double (*to)[512]) {
#pragma omp parallel for
  for (int ii = 0; ii < 512; ii += 32)
    for (int jj = 0; jj < 512; jj += 32)
      for (int i = ii; i < ii + 32; i++)
        for (int j = jj; j < jj + 32; j++) to[i][j] = i - j;
}
void constant_and_long(double (*to)[512]) {
#pragma omp parallel for
  for (long ii = 0; ii < 512; ii += 32)
    for (long jj = 0; jj < 512; jj += 32)
      for (long i = ii; i < ii + 32; i++)
        for (long j = jj; j < jj + 32; j++) to[i][j] = i - j;
}

// Whole tiles, numbered.
// CHECK: region at {{.*}}tiles.c:[[@LINE+4]]: complete
// CHECK: read from [{{.*}} x 160] [{{.*}} x (160 * n)] [20 x 8] [20 x (8 * n)] of 8 bytes
// CHECK-NEXT: write to [{{.*}} x (160 * n)] [{{.*}} x 160] [20 x (8 * n)] of 160 bytes
void numbered(const double *from, double *to, int n) {
#pragma omp parallel for
  for (int row = 0; row < n / 20; row++)
    for (int column = 0; column < n / 20; column++)
      for (int i = row * 20; i < (row + 1) * 20; i++)
        for (int j = column * 20; j < (column + 1) * 20; j++) to[i * n + j] = from[j * n + i] + i;
}

// The size of a tile is known only when the program runs.
// CHECK: region at {{.*}}tiles.c:[[@LINE+3]]: complete
// CHECK: write to [{{.*}}max(0, min((n + {{.*}} x (8 * n)] [max(0, min(n, (tile * (1 + ((-1 + max(tile, n)) / max(1, tile)))))) x 8] of 8 bytes
void variable(const double *from, double *to, int n, int tile) {
#pragma omp parallel for
  for (int ii = 0; ii < n; ii += tile)
    for (int jj = 0; jj < n; jj += tile)
      for (int i = ii; i < min(ii + tile, n); i++)
        for (int j = jj; j < min(jj + tile, n); j++) to[i * n + j] = from[j * n + i] + i;
}

// Rows that overlap are no tiles, and neither are those with gaps between them: what is written is known to lie in a part of the object.
// CHECK: region at {{.*}}tiles.c:[[@LINE+5]]: complete
// CHECK: write may bound to
// CHECK: region at {{.*}}tiles.c:[[@LINE+9]]: complete
// CHECK: write may bound to
void overlapping(double *to, int n) {
#pragma omp parallel for
  for (int t = 0; t < 9; t++)
    for (int ii = 0; ii < n; ii += 4)
      for (int i = ii; i < min(ii + 6, n); i++) to[t * n + i] = t;
}
void apart(double *to, int n) {
#pragma omp parallel for
  for (int t = 0; t < 9; t++)
    for (int ii = 0; ii < n; ii += 4)
      for (int i = ii; i < min(ii + 3, n); i++) to[t * n + i] = t;
}

// Two accesses at a distance, for which LLVM extends the bound, too.
// CHECK: region at {{.*}}tiles.c:[[@LINE+4]]: complete
// CHECK: write to [max(0, min({{.*}})) x 8] of 8 bytes
// CHECK: write to [max(0, min({{.*}})) x 8] of 8 bytes
void two_planes(int n, double *to) {
#pragma omp parallel for
  for (int b = 0; b < (n + 7) / 8; b++)
    for (int i = b * 8; i < min(n, (b + 1) * 8); i++) to[i] = to[i + n] = 1;
}

// Rows from the least of two numbers on: where they end has nothing to do with where they begin.
// CHECK: region at {{.*}}tiles.c:[[@LINE+3]]: complete
// CHECK: read bound from [(-7 + max((8 * width * max((1 + (64 * [[LAST:min\(.omp.ub, \(-1 \+ blocks\)\)]])), min((1 + (65 * [[LAST]])), (2 + (64 * [[LAST]]))))), (8 * width * min((1 + (65 * .omp.iv)), (2 + (64 * .omp.iv))))) + (8 * n) + (-1 *
void uneven(const double *from, double *to, long n, long width, long blocks) {
#pragma omp parallel for
  for (long block = 0; block < blocks; block++) {
    double sum = 0;
    for (long i = 1 + 65 * block < 2 + 64 * block ? 1 + 65 * block : 2 + 64 * block; i <= 1 + 64 * block; i++)
      for (long j = 0; j < n; j++) sum += from[i * width + j];
    to[block] = sum;
  }
}
