// In a region that rank 0 runs by itself, with threads on the processors of other ranks, each thread's memory, what it maps
// and what it reads into memory that ranks share is the program's: other ranks see it afterwards.
// threads: any
// ranks: 2 3 4
// flags: -gline-tables-only
// warns: runs on rank 0 alone
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 100000 };
static long *lists[64], *mapped[64];
static char *texts[64], buffer[N];
static int flag;

int main(void) {
  int threads = 0;
  long got = 0, wrong = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; i++) buffer[i] = 1;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads(), seen;
    lists[me] = malloc(1000 * sizeof(long));
    mapped[me] = mmap(0, 8000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    texts[me] = strdup("text");
    for (int i = 0; i < 1000; i++) lists[me][i] = mapped[me][i] = i + me;
    if (me == team - 1) {
      threads = team;
      int zeros = open("/dev/zero", O_RDONLY);
      got = read(zeros, buffer, N);
      close(zeros);
#pragma omp atomic write
      flag = 1;
    }
    do {
#pragma omp atomic read
      seen = flag;
    } while (!seen);
  }
#pragma omp parallel for reduction(+ : wrong) schedule(static)
  for (int i = 0; i < threads * 1000; i++) {
    int of = i / 1000, at = i % 1000;
    wrong += lists[of][at] != at + of || mapped[of][at] != at + of || strcmp(texts[of], "text") != 0;
  }
#pragma omp parallel for reduction(+ : wrong) schedule(static)
  for (int i = 0; i < N; i++) wrong += buffer[i] != 0;
  printf("%ld read, %ld wrong\n", got, wrong);
  return 0;
}
