// read, write, pread, pwrite, readv and writev on memory that regions have touched.
// threads: any
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
  enum { n = 20000 };
  static int a[n], b[n];
  int *c = malloc(n * sizeof *c);
#pragma omp parallel for schedule(static, 33)
  for (int i = 0; i < n; i++) a[i] = i * 3;
  int file = open("numbers", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (write(file, a, sizeof a) != sizeof a) return 1;
  if (pwrite(file, a + 100, 400, 0) != 400) return 2;
#pragma omp parallel for schedule(static, 77)
  for (int i = 0; i < n; i++) {
    b[i] = 1;
    c[i] = 2;
  }
  lseek(file, 0, SEEK_SET);
  if (read(file, b, sizeof b) != sizeof b) return 3;
  struct iovec parts[2] = {{c, n * 2}, {c + n / 2, n * 2}};
  if (preadv(file, parts, 2, 0) != n * 4) return 4;
  lseek(file, 0, SEEK_END);
  if (writev(file, parts, 2) != n * 4) return 5;
  struct stat status;
  fstat(file, &status);
  close(file);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += b[i] + (long)c[i] * 2;
  printf("%ld %ld\n", sum, (long)status.st_size);
  unlink("numbers");
  free(c);
  return 0;
}
