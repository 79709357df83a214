// Pipelines by flags, which threads set and wait for by plain loads and stores with flushes, and by volatile ones: what
// was written before a flag was set is seen. Flags are used again in each time step; some threads have nothing to do.
// threads: any
// limit: 60
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

enum { ROWS = 23, COLUMNS = 700, STEPS = 6, ROUNDS = 40 };
static double grid[ROWS + 1][COLUMNS];
static int filled[ROWS + 1];
static long turn;
static volatile signed char stage;
static unsigned short ball[2];

// As solvers do that sweep over planes: a row waits for the one before it, and until the one behind it has taken it.
static void sweep(int step) {
#pragma omp for schedule(static) nowait
  for (int row = 1; row <= ROWS; row++) {
    if (row > 1)
      while (filled[row - 1] == 0) {
#pragma omp flush
      }
    if (row < ROWS)
      while (filled[row] == 1) {
#pragma omp flush
      }
    for (int i = 0; i < COLUMNS; i++)
      grid[row][i] = grid[row][i] * 0.5 + grid[row - 1][i] + (i * step) % 5;
    if (row > 1)
      filled[row - 1] = 0;
    if (row < ROWS)
      filled[row] = 1;
  }
}

// What two threads make of each other's numbers, in turn.
static void played(double one, double other) {
  double numbers[2] = {1, 1};
  for (int round = 0; round < ROUNDS; round++) {
    numbers[0] += numbers[1] * 0.25 + 1;
    numbers[1] += numbers[0] * 0.25 + 1;
  }
  if (numbers[0] != one || numbers[1] != other)
    printf("wrong: %.17g %.17g, not %.17g %.17g\n", one, other, numbers[0], numbers[1]);
}

int main(void) {
  double sum = 0;
  int count = 0, late[64] = {0}, wrong = 0;
  for (int i = 0; i < COLUMNS; i++)
    grid[0][i] = i % 3;
  for (int outer = 0; outer < 2; outer++) {
#pragma omp parallel
    for (int step = 0; step < STEPS; step++) {
#pragma omp single
      for (int i = 0; i < COLUMNS; i++)
        grid[0][i] += 1;
      for (int inner = 0; inner < 3; inner++)
        sweep(step);
#pragma omp barrier
    }
    // Serial code sees and sets them.
    for (int row = 0; row <= ROWS; row++)
      wrong += filled[row];
  }
  for (int row = 0; row <= ROWS; row++)
    for (int i = 0; i < COLUMNS; i++)
      sum += grid[row][i] * (row + i % 11);
  // A flag that the region captures, and one thread behind the other.
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    if (me > 0) {
      while (!late[me - 1]) {
#pragma omp flush
      }
    }
    count += me + 1;
#pragma omp flush
    late[me] = 1;
#pragma omp flush
#pragma omp barrier
#pragma omp atomic
    wrong += late[team - 1] != 1;
  }
  // Threads in turn, many times, by a number.
  turn = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int round = me; round < ROUNDS; round += team) {
      while (turn < round) {
#pragma omp flush
      }
      grid[0][0] = grid[0][0] * 0.9 + round;
      turn = round + 1;
    }
  }
  // Two throw a ball.
  grid[1][0] = grid[1][5] = 1;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int round = 0; round < ROUNDS && team > 1 && me < 2; round++) {
      while (ball[me] != round + 1 - (me == 0)) {
#pragma omp flush
      }
      grid[1][5 * me] += grid[1][5 - 5 * me] * 0.25 + 1;
      ball[1 - me] = round + 1;
    }
  }
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    while (stage < me) {
    }
    grid[2][0] += me;
    stage = me + 1;
  }
  int team = stage;
  for (int thread = 0; thread < team; thread++)
    grid[2][0] -= thread;
  printf("%.12g %d %ld %d\n", sum, wrong, turn, ball[0] + ball[1] == (team > 1 ? 2 * ROUNDS : 0));
  printf("%.12g %.12g %d\n", grid[0][0], grid[2][0], count == team * (team + 1) / 2);
  if (team > 1)
    played(grid[1][0], grid[1][5]);
}
