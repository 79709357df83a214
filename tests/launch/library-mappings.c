// What a library maps that was not compiled with okl is its own: it may make code of it, which shared memory cannot be.
//
// RUN: clang-22 -O1 -fPIC -shared -DLIBRARY %s -o %t.so
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s %t.so -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: %launch -n 1 %t | FileCheck %s
// RUN: %launch -n 3 %t | FileCheck %s
// CHECK: 7 7 499500
int seven(void);

#ifdef LIBRARY
#include <string.h>
#include <sys/mman.h>

int seven(void) {
  static const char code[] = "\xb8\x07\0\0\0\xc3";
  void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return -1;
  memcpy(at, code, sizeof code);
  if (mprotect(at, 4096, PROT_READ | PROT_EXEC)) return -2;
  int value = ((int (*)(void))at)();
  return munmap(at, 4096) ? -3 : value;
}
#else
#include <stdio.h>

int main(void) {
  int before = seven();
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i;
  printf("%d %d %ld\n", before, seven(), sum);
  return 0;
}
#endif
