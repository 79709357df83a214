// A file that is written through its mapping stays with rank 0: the message names file and mapping where another rank
// touches it.
// reference: none
// flags: -gline-tables-only
// opt: -O0
// ranks: 2 4
// limit: 20
// expect-exit: failure
// expect-stderr: segmentation fault at own-mapping-written.c:25: address
// expect-stderr: (the program's own mmap of /memfd:written-through (deleted) at own-mapping-written.c:19, which the ranks do not share: map a file with MAP_PRIVATE or without PROT_WRITE, or copy it to memory from malloc) was read
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static long *volatile written;

static long *map(int file) { return mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); }

static void read_elsewhere(void) {
  long seen = 0;
#pragma omp parallel reduction(+ : seen)
  if (omp_get_thread_num() == omp_get_num_threads() - 1)
    seen = written[600];
  printf("not reached: %ld\n", seen);
}

int main(void) {
  int file = memfd_create("written-through", 0);
  if (ftruncate(file, 8192)) return 1;
  munmap(map(file), 8192);
  written = map(file);
  written[600] = 1;
  read_elsewhere();
  return 0;
}
