// What a device cannot run: an error where nothing else is to run it, and otherwise a warning.
//
// RUN: not clang++-22 -std=c++17 -O2 -g -Wno-vla-cxx-extension -ferror-limit=0 -fpass-plugin=%plugin -mllvm -okl-target=cuda -c %s -o %t.o 2>&1 | grep -E 'error:|warning:' | FileCheck --match-full-lines --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: clang++-22 -std=c++17 -O2 -g -Wno-vla-cxx-extension -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ELSE %s
// RUN: not clang++-22 -std=c++17 -O2 -g -Wno-vla-cxx-extension -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -mllvm -okl-strict -c %s -o %t.o 2>&1 | FileCheck --check-prefix=STRICT %s

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]
#define SHARED [[clang::annotate("okl.shared")]]
#define EXCLUSIVE [[clang::annotate("okl.exclusive")]]
extern "C" void __okl_barrier(int) __attribute__((convergent));
extern "C" void __okl_atomic_begin(int) __attribute__((convergent));
extern "C" void __okl_atomic_end() __attribute__((convergent));

// ELSE: devices.cpp:[[# @LINE + 8]]:7: warning: this cannot run on a device, so the processor runs it: it calls unknown, of which this file has no code
// STRICT: devices.cpp:[[# @LINE + 7]]:7: error: this cannot run on a device, so the processor runs it: it calls unknown, of which this file has no code

void unknown(int);
KERNEL void calls(int n, void (*called)(int)) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it calls unknown, of which this file has no code
      unknown(i);
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it calls a function by its address
      called(i);
}

static void deep(int *a) { asm volatile("nop" : : "r"(a)); }
KERNEL void assembly(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      deep(a + i);
  // CHECK: {{.*}}:[[# @LINE - 5]]:{{.*}}: error: this cannot run on a device: it has inline assembly
}

KERNEL void lengths(int n, long double *a, float *b) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it computes with `long double` or `__float128`
      a[i] += 1;
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it has an array whose length is not known when it is compiled
      float more[n];
      more[i] = b[i];
      b[i] = more[n - 1];
    }
}

int counter;
thread_local int own;
extern const int table[4];
KERNEL void variables(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[i] += counter;
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it uses own, of which each thread has one
      a[i] += own;
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[i] += table[i];
}

KERNEL void throws(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it calls __cxa_allocate_exception, of which this file has no code
      if (a[i] < 0) throw 1;
}

// CHECK: {{.*}}:[[# @LINE + 2]]:{{.*}}: error: this cannot run on a device: a block has 64 by 32 by 1 work items, and cuda can have 1024, 64 of them in the third direction
KERNEL void items(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int j = 0; j < 32; ++j)
      for (INNER int i = 0; i < 64; ++i) a[64 * j + i] = 0;
  // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: the @shared variables of a block have 262144 bytes, and cuda has room for 232448
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[65536];
    for (INNER int i = 0; i < 64; ++i) s[i] = a[i];
    for (INNER int i = 0; i < 64; ++i) a[i] = s[63 - i];
  }
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < o; ++i) {
      a[i] = 0;
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: this barrier is in an @inner loop, and others of the block may have another number of work items
      __okl_barrier(0);
      a[i] += 1;
    }
}

// CHECK: {{.*}}:[[# @LINE + 2]]:{{.*}}: error: this cannot run on a device: how many work items a block has is not known in front of all blocks, in more than one direction: say it with @max_inner_dims
KERNEL void directions(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE float own;
    for (INNER int j = 0; j < o; ++j)
      for (INNER int i = 0; i < o; ++i) own = a[o * j + i];
    for (INNER int j = 0; j < o; ++j)
      for (INNER int i = 0; i < o; ++i) a[o * j + i] = own + 1;
  }
}

KERNEL void between(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it does more than compute outside of all @inner loops, where each work item would do it
    a[o] += 1;
    for (INNER int i = 0; i < 4; ++i) a[n + i] = 0;
  }
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int j = 0; j < 4; ++j) {
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it reads memory between two @inner loops, one in the other, where each work item would do it
      float first = a[8 * j];
      for (INNER int i = 0; i < 8; ++i) a[8 * j + i] += first;
    }
}

KERNEL void meets(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[8];
    for (INNER int i = 0; i < 4; ++i) {
      s[i] = a[i];
      // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: this barrier is in an @inner loop, and others of the block may have another number of work items
      __okl_barrier(0);
      a[i] = s[3 - i];
    }
    for (INNER int i = 0; i < 8; ++i) a[i] += 1;
  }
}

// What is seen in the code of the device.
struct List {
  float *first;
};
KERNEL void pointers(int n, List list, float **rows) {
  // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it gets an object with pointers in it
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) list.first[i] = 0;
  // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it follows a pointer that is in memory
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) rows[o][i] = 0;
  // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it stores a pointer in memory
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) rows[4 * o + i] = (float *)(rows + i);
}

static int depth = 3;
static int calls_itself(int k) { return k < depth ? k : calls_itself(k - 1) + calls_itself(k - 2) + calls_itself(k - 3); }
KERNEL void recurses(int n, int *a) {
  // CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: error: this cannot run on a device: it calls calls_itself, which uses variables that are no constants, or has @atomic code, and cannot be a part of it
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o] = calls_itself(i), depth++;
}
