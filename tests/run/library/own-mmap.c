// The program's own mappings: anonymous memory, files that it reads, pieces given back, mappings that grow.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 100000 };

static long sum_of(const long *values) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < N; i++) sum += values[i];
  return sum;
}

static void *fresh(size_t bytes, int flags) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return at;
}

int main(void) {
  size_t bytes = N * sizeof(long);
  int flags[2] = {MAP_PRIVATE, MAP_SHARED};
  for (int round = 0; round < 6; round++) {
    long *values = fresh(bytes, flags[round % 2]);
    long zeros = sum_of(values);
#pragma omp parallel for
    for (long i = 0; i < N; i++) values[i] = i + round;
    printf("%ld %ld\n", zeros, sum_of(values));
    munmap(values, bytes);
  }

  char name[] = "own-mmap-XXXXXX";
  int file = mkstemp(name);
  long *values = fresh(bytes, MAP_PRIVATE);
  for (long i = 0; i < N; i++) values[i] = 3 * i;
  if (write(file, values, bytes) != (ssize_t)bytes) return 1;
  close(file);
  file = open(name, O_RDONLY);
  const long *shared = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  long *copied = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 4096);
  close(file);
#pragma omp parallel for
  for (long i = 0; i < N - 512; i++) copied[i] += 1;
  printf("%ld %ld %ld\n", sum_of(shared), copied[0], copied[N - 513]);
  madvise((void *)shared, bytes, MADV_DONTNEED);
  printf("%ld\n", sum_of(shared));
  munmap((void *)shared, bytes);
  unlink(name);
  printf("%d\n", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);

  // An aligned piece out of the middle; the rest goes back.
  size_t piece = 1 << 20;
  char *whole = fresh(2 * piece, MAP_PRIVATE);
  char *middle = (char *)(((size_t)whole + piece - 1) / piece * piece);
  if (middle > whole) munmap(whole, middle - whole);
  munmap(middle + piece, whole + piece - middle);
  int set = 0;
#pragma omp parallel for reduction(+ : set)
  for (size_t i = 0; i < piece; i++) {
    middle[i] = 1;
    set += middle[i];
  }
  mprotect(middle, piece, PROT_READ);
  printf("%d %d\n", set, (int)((size_t)middle % piece));
  munmap(middle, piece);

  values = mremap(values, bytes, 2 * bytes, MREMAP_MAYMOVE);
#pragma omp parallel for
  for (long i = 0; i < N; i++) values[N + i] = values[i] + 1;
  printf("%ld %ld\n", sum_of(values), sum_of(values + N));
  madvise(values, bytes / 4096 * 4096, MADV_DONTNEED);
  printf("%ld\n", sum_of(values + N) - sum_of(values) > 0);
  long *again = mmap(values, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  again[1] = 7;
  long first = 0;
#pragma omp parallel for reduction(+ : first)
  for (int i = 0; i < 1024; i++) first += values[i];
  printf("%ld %d\n", first, again == values);
  munmap(values, 2 * bytes);
  return 0;
}
