// Another thread of the process, as MPI has some, asks for environment variables while the program's own
// list and texts are in memory that the ranks share and write.
// threads: any
// untranslated: asking.c
// flags: -D_GNU_SOURCE
// env: OKL_TEST_VALUE=as started
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stop_asking(void);

extern char **environ;
static char named[] = "OKL_TEST_OTHER=0";
static long values[4096];

int main(void) {
  long sum = 0, letters = 0;
  putenv(named);
  for (int round = 0; round < 30; round++) {
    setenv("OKL_TEST_VALUE", round % 2 ? "odd" : "even", 1);
    char **variables = environ;
    // One of the texts moves to the thread that writes it.
#pragma omp parallel for schedule(static) reduction(+ : letters)
    for (int i = 0; i < 64; i++) {
      values[i] += i;
      if (i == 63) named[sizeof named - 2] = (char)('0' + round % 10);
      letters += variables != NULL;
    }
    char *old = getenv("OKL_TEST_VALUE"), *other = getenv("OKL_TEST_OTHER");
    sum += old[0] + other[0];
  }
  stop_asking();
  printf("%ld %ld %ld\n", sum, letters, values[63]);
  return 0;
}
