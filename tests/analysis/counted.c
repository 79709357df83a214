// Stores to places that counters of the thread say: what they have written is marked behind the nest, from what the counters
// were and are then. Not where anything else may change a counter, and not where elements lie between. Counters may be
// anywhere, if nothing else is written that may be one.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

int omp_get_thread_num(void);
enum { N = 6000, BUCKETS = 64 };
int key[N];
int *to;
long *wide;

// Two arrays by one counter on the stack, which shrinks.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+9]]
// CHECK:        write marked to behind the nest by bits of 4 bytes
// CHECK-NEXT:   write marked wide behind the nest by bits of 8 bytes
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

// A row of a table that threads share: its counters are marked, too.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked table by bytes of 4 bytes
// CHECK-NEXT:   write marked to behind the nest by bits of 4 bytes
void row(int (*table)[BUCKETS]) {
#pragma omp parallel
  {
    int *mine = table[omp_get_thread_num()];
    for (int i = 0; i < N; i++)
      to[mine[key[i]]++] = i;
  }
}

// Of which it is not known how many there are, and which shrink.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked {{.*}} by bytes of 8 bytes
// CHECK-NEXT:   write marked wide behind the nest by bits of 8 bytes
void pointers(long **rows) {
#pragma omp parallel
  {
    long *mine = rows[omp_get_thread_num()];
    for (int i = 0; i < N; i++)
      wide[--mine[key[i]]] = i;
  }
}

// Something else is written, which may be a counter.
// CHECK: region at {{.*}}counted.c:[[@LINE+6]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+9]]
// CHECK:        write marked table by bytes of 4 bytes
// CHECK:        write marked to by bits of 4 bytes
// CHECK:        write marked more by bits of 4 bytes
void others(int (*table)[BUCKETS], int *more) {
#pragma omp parallel
  {
    int *mine = table[omp_get_thread_num()];
    for (int i = 0; i < N; i++) {
      int at = mine[key[i]]++;
      to[at] = i;
      more[at] = i;
    }
  }
}

// A counter changes otherwise.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked table by bytes of 4 bytes
// CHECK-NEXT:   write marked to by bits of 4 bytes
void row_skips(int (*table)[BUCKETS]) {
#pragma omp parallel
  {
    int *mine = table[omp_get_thread_num()];
    for (int i = 0; i < N; i++) {
      to[mine[key[i]]++] = i;
      if (key[i] % 5 == 0) mine[i % BUCKETS] -= 1;
    }
  }
}

// Counters of other bytes than are looked at.
// CHECK: region at {{.*}}counted.c:[[@LINE+5]]: complete
// CHECK:      nest {{.*}}counted.c:[[@LINE+8]]
// CHECK:        write marked table by bytes of 2 bytes
// CHECK-NEXT:   write marked to by bits of 4 bytes
void narrow(short (*table)[BUCKETS]) {
#pragma omp parallel
  {
    short *mine = table[omp_get_thread_num()];
    for (int i = 0; i < N; i++)
      to[mine[key[i]]++] = i;
  }
}
