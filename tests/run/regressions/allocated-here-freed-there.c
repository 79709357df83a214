// Memory that regions allocate and serial code frees, and the other way round, is used again: a program
// that does so for ever needs no more memory than it holds at a time.
// threads: any
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, ROUNDS = 60 };

static char *blocks[BLOCKS];
static uintptr_t addresses[BLOCKS][ROUNDS];
static long sum;

static size_t length(int block) { return block % 2 ? 100 + block : 20000 + block; }

static char *make(int block, int round) {
  char *memory = malloc(length(block));
  memset(memory, block + round, length(block));
  addresses[block][round] = (uintptr_t)memory;
  return memory;
}

static int compare(const void *left, const void *right) {
  uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
  return a < b ? -1 : a > b;
}

/// Whether most rounds found memory that an earlier one had used.
static int is_used_again(void) {
  long different = 0;
  for (int block = 0; block < BLOCKS; block++) {
    qsort(addresses[block], ROUNDS, sizeof(uintptr_t), compare);
    for (int round = 0; round < ROUNDS; round++)
      different += round == 0 || addresses[block][round] != addresses[block][round - 1];
  }
  return different < BLOCKS * ROUNDS / 2;
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(static, 1)
    for (int block = 0; block < BLOCKS; block++) blocks[block] = make(block, round);
    for (int block = 0; block < BLOCKS; block++) {
      sum += blocks[block][length(block) - 1];
      free(blocks[block]);
    }
  }
  printf("%ld %d\n", sum, is_used_again());
  for (int round = 0; round < ROUNDS; round++) {
    for (int block = 0; block < BLOCKS; block++) blocks[block] = make(block, round);
    long part = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : part)
    for (int block = 0; block < BLOCKS; block++) {
      part += blocks[block][length(block) - 1];
      free(blocks[block]);
    }
    sum += part;
  }
  printf("%ld %d\n", sum, is_used_again());
  return 0;
}
