// The third parameter of main.
// threads: any
// env: OKL_TEST_VALUE=seen
#include <stdio.h>
#include <string.h>

int main(int argc, char *argv[], char *envp[]) {
  (void)argv;
  int found = 0;
  for (int i = 0; envp[i]; i++) found += strcmp(envp[i], "OKL_TEST_VALUE=seen") == 0;
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10 * argc; i++) sum += i;
  printf("%d %d\n", found, sum);
  return 0;
}
