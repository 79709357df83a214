// Serial code redirects the standard output: what regions print goes there, too, whichever rank prints.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_lines(const char *where) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#pragma omp critical
    printf("%s\n", where);
  }
  fflush(stdout);
}

int main(void) {
  char name[] = "/tmp/okl-redirected-XXXXXX", text[1000];
  int file = mkstemp(name), original = dup(1);
  print_lines("before");
  if (file < 0 || !freopen(name, "w", stdout)) return 1;
  print_lines("redirected");
  fflush(stdout);
  dup2(original, 1);
  print_lines("after");
  long length = read(file, text, sizeof text - 1);
  text[length < 0 ? 0 : length] = 0;
  printf("%ld bytes in the file:\n%s", length, text);
  unlink(name);
  return 0;
}
