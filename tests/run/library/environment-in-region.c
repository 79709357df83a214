// Every thread of a region finds the environment that serial code has left, and all texts are valid for all.
// env: OKL_TEST_GIVEN=given
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;
static char put[] = "OKL_TEST_PUT=first";

static int is(const char *name, const char *value) {
  const char *found = getenv(name);
  const char *securely = secure_getenv(name);
  if (!value || !found) return found == value && securely == value;
  return !strcmp(found, value) && !strcmp(securely, value);
}

int main(void) {
  setenv("OKL_TEST_SET", "before", 1);
  putenv(put);
  const char *kept = getenv("OKL_TEST_SET"), *handed[64];
  int wrong = 0, team = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += !is("OKL_TEST_GIVEN", "given") + !is("OKL_TEST_SET", "before") + !is("OKL_TEST_PUT", "first") +
             !is("OKL_TEST_NONE", NULL) + !is("OKL_TEST", NULL) + strcmp(kept, "before");
    handed[omp_get_thread_num()] = getenv("OKL_TEST_SET");
#pragma omp barrier
    wrong += strcmp(handed[(omp_get_thread_num() + 1) % omp_get_num_threads()], "before");
#pragma omp single
    team = omp_get_num_threads();
  }
  printf("%d threads, %d wrong\n", team, wrong);
  for (int round = 0; round < 3; round++) {
    char value[20];
    sprintf(value, "round %d", round);
    setenv("OKL_TEST_SET", value, 1);
    setenv("OKL_TEST_SET", "not so", 0);
    put[13] = 'A' + round;
    if (round == 1) unsetenv("OKL_TEST_GIVEN");
#pragma omp parallel reduction(+ : wrong)
    {
      char changed[] = "first";
      changed[0] = 'A' + round;
      wrong += !is("OKL_TEST_SET", value) + !is("OKL_TEST_PUT", changed);
      wrong += !is("OKL_TEST_GIVEN", round ? NULL : "given");
    }
  }
  printf("%d wrong\n", wrong);
  printf("%d %d\n", setenv("", "x", 1), setenv("A=B", "x", 1));
  char *own[] = {"OKL_TEST_SET=own", NULL};
  char **others = environ;
  environ = own;
#pragma omp parallel reduction(+ : wrong)
  wrong += !is("OKL_TEST_SET", "own") + !is("OKL_TEST_PUT", NULL);
  environ = others;
#pragma omp parallel reduction(+ : wrong)
  wrong += !is("OKL_TEST_SET", "round 2") + !is("OKL_TEST_GIVEN", NULL);
  clearenv();
#pragma omp parallel reduction(+ : wrong)
  wrong += !is("OKL_TEST_SET", NULL);
  setenv("OKL_TEST_SET", "again", 0);
#pragma omp parallel reduction(+ : wrong)
  wrong += !is("OKL_TEST_SET", "again");
  printf("%d wrong\n", wrong);
  return 0;
}
