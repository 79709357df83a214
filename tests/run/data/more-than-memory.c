// Rank 0 writes a file of data that other ranks have, more than it may hold: copies are given up, oldest first.
// env: OKL_MEMORY=48M
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "resident.h"

enum { MIB = 96 };

static unsigned long sum;

static void add_up(FILE *file) {
  unsigned words[1024];
  rewind(file);
  while (fread(words, sizeof words, 1, file) == 1) sum = sum * 31 + words[0] + words[1023];
}

int main(void) {
  const long count = MIB * (1l << 20) / sizeof(unsigned);
  unsigned *a = malloc(count * sizeof *a), wrong = 0;
  if (!a) return 1;
  long most = 0, own = 0;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (long i = 0; i < count; i++) a[i] = (unsigned)i * 2654435761u + round;
    long now = resident();
    own = now > own ? now : own;
    // In one piece, without a buffer, and in small pieces.
    FILE *file = tmpfile();
    if (round == 0 && fwrite(a, count * sizeof *a, 1, file) != 1) wrong++;
    if (round == 1 && write(fileno(file), a, count * sizeof *a) != count * (long)sizeof *a) wrong++;
    for (long i = 0; round == 2 && i < count; i += 256) wrong += fwrite(a + i, sizeof *a, 256, file) != 256;
    now = resident();
    most = now > most ? now : most;
    add_up(file);
    fclose(file);
    for (long i = 0; i < count; i += 511) wrong += a[i] != (unsigned)i * 2654435761u + round;
    now = resident();
    most = now > most ? now : most;
  }
  // What rank 0 has itself does not go, and a piece is written at once.
  if (most > (own > 48 ? own : 48) + 36) printf("%ld MiB were taken, its own are at most %ld\n", most, own);
  printf("%u wrong, %lu\n", wrong, sum);
  return 0;
}
