// write on a descriptor that is open in one process only.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls write on a file that is open in one process only
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int file = open("bytes", O_RDWR | O_CREAT | O_TRUNC, 0600), short_writes = 0;
#pragma omp parallel for reduction(+ : short_writes)
  for (int i = 0; i < 60; i++) {
    char byte = (char)i;
    short_writes += write(file, &byte, 1) != 1;
  }
  printf("%d %ld\n", short_writes, (long)lseek(file, 0, SEEK_END));
  close(file);
  unlink("bytes");
  return 0;
}
