// What the code around worksharing loops does, once for each thread that runs it: the parts of the steps that are no loops.
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -g -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

int n, a[100], b[100], total;
double *p;
int *leaked;
void unknown(void);

// CHECK:      worksharing loop at {{.*}}code.c:[[#@LINE+26]]: static i32 loop 0 to 99{{$}}
// CHECK-NEXT: write 4 bytes in a at 4 * i
// Whether it is this thread is not known, nor how often the loop turns.
// CHECK-NEXT: thread 0, step 0 of parallel region at {{.*}}code.c:[[#@LINE+21]]:
// CHECK-NEXT: may write 4 bytes in b at 0{{$}}
// CHECK-NEXT: one thread, step 0 of
// CHECK-NEXT: may read 4 bytes in n at 0
// CHECK-NEXT: may read 4 bytes in a at 4 * [n]
// CHECK-NEXT: may write 4 bytes in b at 4{{$}}
// CHECK-NEXT: may read 8 bytes in p at 0
// CHECK-NEXT: may write 1 bytes in *(p) at 0, 8 * [n] times each 1
// CHECK-NEXT: each thread, step 0 of
// CHECK-NEXT: read 4 bytes in n at 0
// CHECK-NEXT: may write 4 bytes in b at 28
// CHECK-NEXT: each thread, step 1 of
// CHECK-NEXT: read 4 bytes in n at 0
// CHECK-NEXT: increment 4 bytes in total at 0
// CHECK-NEXT: each thread, step 2 of
// CHECK-NEXT: read 4 bytes in total at 0
// CHECK-NEXT: write 4 bytes in total at 0
// CHECK-NEXT: unknown: it has a critical section ({{.*}}code.c:[[#@LINE+20]])
// CHECK-NEXT: each thread, step 3 of
// CHECK-NEXT: unknown: it calls unknown, which is not known here
void parts(void) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp master
    b[0] = 1;
#pragma omp single nowait
    {
      b[1] = a[n];
      for (int i = 0; i < n; i++) p[i] = 0;
    }
    if (n > 3) b[7] = 2;
#pragma omp barrier
#pragma omp atomic
    total += n;
#pragma omp barrier
#pragma omp critical
    total++;
#pragma omp barrier
    unknown();
  }
}

// Values are combined behind the loop; that they are items that hold no pointers, their function shows.
// CHECK:      combines into capture 0: Add
// CHECK-NEXT: each thread, step 0 of parallel region at {{.*}}code.c:[[#@LINE+7]]:
// CHECK-NEXT: may read 8 bytes in capture 0 at 0
// CHECK-NEXT: may write 8 bytes in capture 0 at 0
// CHECK-NEXT: may increment 8 bytes in capture 0 at 0
// CHECK-NOT:  unknown
long sum(void) {
  long s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 100; i++) s += a[i];
  return s;
}

// What a called function does between its loops has no names here, if it does anything; its loops and what one thread
// does have.
// CHECK:      worksharing loop at {{.*}}code.c:[[#@LINE+11]]:
// CHECK-NEXT: write 4 bytes in a at 4 * i
// CHECK-NEXT: each thread, step 0 of parallel region at {{.*}}code.c:[[#@LINE+16]]:
// CHECK-NOT:  unknown
// CHECK:      one thread, step 1 of
// CHECK-NEXT: may write 4 bytes in a at 36
// CHECK-NEXT: each thread, step 1 of
// CHECK-NOT:  unknown
// CHECK:      each thread, step 2 of
// CHECK-NEXT: unknown: it calls orphaned ({{.*}}code.c:[[#@LINE+6]])
__attribute__((noinline)) static void orphaned(int *x) {
#pragma omp for
  for (int i = 0; i < 100; i++) x[i] = i;
#pragma omp single
  x[9] = 1;
  x[8] = 2;
}
void orphans(void) {
#pragma omp parallel
  orphaned(a);
}

// A variable that other threads may find is no thread's own.
// CHECK:      each thread, step 0 of parallel region at {{.*}}code.c:[[#@LINE+4]]:
// CHECK:      unknown: it lets the address of a private variable escape
void leaks(void) {
  int own;
#pragma omp parallel private(own)
  {
    own = 1;
    leaked = &own;
    a[0] = own;
  }
}

// A number or a pointer that the code may change itself is not what it was.
// CHECK:      each thread, step 0 of parallel region at {{.*}}code.c:[[#@LINE+7]]:
// CHECK-NEXT: read 8 bytes in capture 0 at 0
// CHECK-NEXT: write 4 bytes in *(capture 0) at 0
// CHECK-NEXT: read 4 bytes in n at 0
// CHECK-NEXT: may write 4 bytes in a, anywhere
// CHECK-NOT:  unknown
void changes_number(int *q) {
#pragma omp parallel
  {
    *q = 7;
    a[n] = 1;
  }
}
// CHECK:      each thread, step 0 of parallel region at {{.*}}code.c:[[#@LINE+3]]:
// CHECK:      unknown: it accesses an object that is not known
void changes_pointer(double **q) {
#pragma omp parallel
  {
    *q = 0;
    p[3] = 1;
  }
}
