// Serial code clears a field but for a few points, time and again; the ends of its rows are exchanged, and then each thread
// reads rows of others' of which most are zero, where it had other values before.
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 96, COLUMNS = 1026, ROUNDS = 4 };
static double field[ROWS][COLUMNS], changed[ROWS][COLUMNS];

static void clear(int round) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) field[i][j] = 0;
  for (int point = 0; point < 20; point++)
    field[(7 * point + round) % ROWS][1 + (311 * point + 5 * round) % (COLUMNS - 2)] = point - 9.5;
}

static double sum(void) {
  double all = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) all += (1 + (i + 3 * j) % 17) * field[i][j];
  return all;
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    clear(round);
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < ROWS; i++) {
        field[i][0] = field[i][COLUMNS - 2];
        field[i][COLUMNS - 1] = field[i][1];
      }
      for (int step = 0; step < 3; step++) {
#pragma omp for
        for (int i = 1; i < ROWS - 1; i++)
          for (int j = 1; j < COLUMNS - 1; j++)
            changed[i][j] = field[i][j] + 0.25 * (field[i - 1][j - 1] + field[i + 1][j + 1]);
#pragma omp for
        for (int i = 1; i < ROWS - 1; i++)
          for (int j = 1; j < COLUMNS - 1; j++) field[ROWS - 1 - i][j] = 0.5 * changed[i][j] + (round == 2);
      }
    }
    printf("round %d: %.10g\n", round, sum());
  }
  return 0;
}
