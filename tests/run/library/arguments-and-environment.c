// argc, argv, environ and getenv, read in serial code and their strings in a region.
// threads: any
// args: one two-words three=3
// env: OKL_TEST_VALUE=from the environment
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv) {
  const char *value = getenv("OKL_TEST_VALUE");
  int variables = 0, letters = 0;
  for (char **p = environ; *p; p++) variables += strncmp(*p, "OKL_TEST_VALUE=", 15) == 0;
#pragma omp parallel for reduction(+ : letters)
  for (int i = 1; i < argc; i++) letters += (int)strlen(argv[i]) * i + value[i];
  printf("%d %s %s %s %d %d\n", argc, argv[1], argv[argc - 1], value, variables, letters);
  setenv("OKL_TEST_VALUE", "changed", 1);
  printf("%s %d\n", getenv("OKL_TEST_VALUE"), argv[argc] == NULL);
  return 0;
}
