// Stores to places that counters of the thread say: what they have written is marked behind the nest, from what the counters
// were and are then. Not where anything else may change a counter, and not where elements lie between.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

enum { N = 6000, BUCKETS = 64 };
int key[N];
int *to;
long *wide;

// Two arrays by one counter on the stack, which shrinks.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+9]]
// CHECK:        write marked to by counters, by bytes of 4 bytes
// CHECK-NEXT:   write marked wide by counters, by bytes of 8 bytes
void stack(const int *first) {
#pragma omp parallel
  {
    int last[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) last[b] = first[b];
    for (int i = 0; i < N; i++) {
      int at = --last[key[i] % BUCKETS];
      to[at] = i;
      wide[at] = i;
    }
  }
}

// The counter changes without an element; the same element may be written twice.
// CHECK: region at {{.*}}counted.c:[[@LINE+4]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked to by bits of 4 bytes
void skips(const int *first) {
#pragma omp parallel
  {
    int last[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) last[b] = first[b];
    for (int i = 0; i < N; i++) {
      to[last[key[i] % BUCKETS]++] = i;
      if (key[i] % 5 == 0) last[i % BUCKETS] -= 1;
    }
  }
}

// Every other element.
// CHECK: region at {{.*}}counted.c:[[@LINE+4]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked to by bits of 4 bytes
void apart(const int *first) {
#pragma omp parallel
  {
    int last[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) last[b] = first[b];
    for (int i = 0; i < N; i++)
      to[2 * last[key[i] % BUCKETS]++] = i;
  }
}

// One of two stores to the object is not counted.
// CHECK: region at {{.*}}counted.c:[[@LINE+4]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked to by bits of 4 bytes
void both(const int *first) {
#pragma omp parallel
  {
    int last[BUCKETS];
    for (int b = 0; b < BUCKETS; b++) last[b] = first[b];
    for (int i = 0; i < N; i++) {
      to[last[key[i] % BUCKETS]++] = i;
      to[N + key[i]] = i;
    }
  }
}
