// Reads at places by remainders and bit masks: what they lie between is declared, and with it what computes where they are,
// if their addresses follow from the number of the turn and from what is known in front of the loop.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o - | FileCheck --check-prefix=IR %s

enum { N = 256 };
struct complex {
  double re, im;
};
struct complex u[N / 2][N][N];
double a[N * N];
int columns[N];

// As NPB's FT does.
double checksum(void) {
  double sum = 0;
// CHECK: region at {{.*}}places.c:[[@LINE+2]]: complete
// CHECK: read bound u {{.*}}, {{8|16}} bytes in each of {{.*}} turns
#pragma omp parallel for reduction(+ : sum)
  for (int j = 1; j <= 1024; j++) sum += u[5 * j % (N / 2)][3 * j % N][j % N].re;
  return sum;
}

// A mask and a shift, of what is captured, too.
double hashed(int n, unsigned seed, const double *table) {
  double sum = 0;
// CHECK: region at {{.*}}places.c:[[@LINE+2]]: complete
// CHECK: read {{anywhere|bound}} table{{.*}}, 8 bytes in each of {{.*}} turns
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += table[(i * 2654435761u + seed) >> 16];
  return sum;
}

// A divisor that is not known may be zero where nothing is read; an index that is loaded is not known in front of the loop;
// and what is read evenly is a section anyway.
double others(int n, int by) {
  double sum = 0;
// CHECK: region at {{.*}}places.c:[[@LINE+3]]: complete
// CHECK-NOT: turns
// CHECK: region at {{.*}}places.c:[[@LINE+4]]: complete
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    if (by) sum += a[i % by];
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[columns[i] & 255] + a[2 * i + 1];
  return sum;
}
// CHECK-NOT: turns

// IR: define internal i64 @okl.places(i64 %{{.*}}, ptr{{.*}} %{{.*}})
// IR-NOT: br
// IR: and i32 %{{.*}}, 127
// IR: ret i64
