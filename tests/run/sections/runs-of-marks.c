// Inner loops that write one element behind the other to a computed place, and so mark in front of the loop what
// they write. Others write what lies around it, and every step by another thread: a mark too many brings old values
// back, a mark too few loses new ones.
// threads: any
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 24, VALUES = 40, ROOM = 400, N = PARTS * ROOM };

struct three {
  double of[3];
};

static int ints[N], more[N], counts[PARTS][VALUES], stops[N];
static double doubles[N];
static unsigned char bytes[N], text[8 * N];
static short shorts[N];
static struct three threes[N];

static long mixed(long sum, const void *of, size_t size) {
  const unsigned char *at = of;
  for (size_t i = 0; i < size; i++) sum = (sum * 31 + at[i]) % 1000000007;
  return sum;
}

// Some are empty, some less than that; together no more than there is room for.
static void choose(int step) {
  for (int part = 0; part < PARTS; part++)
    for (int v = 0; v < VALUES; v++) counts[part][v] = (part * 7 + v * 5 + step * 3) % 13 - 4;
  for (int i = 0; i < N; i++) stops[i] = (i * 11 + step) % 17;
}

// Which part a thread's turn is about: in every step another one.
static int part_of(int turn, int step) { return (turn * 5 + step * 7) % PARTS; }

static void one_behind_the_other(int *to, double *other, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int times = counts[part][v]; times > 0; times--) to[next++] = v + step;
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step);
    long next = part * ROOM;
    for (int v = 0; v < VALUES; v++) {
      for (int k = 0; k < counts[part][v]; k++) other[next++] = k * 0.5 + step;
      next++;
    }
  }
}

// Towards lower addresses.
static void downwards(short *to, int *other, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = (part + 1) * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) to[--next] = k + step;
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), first = part * ROOM;
    for (int v = 0; v < VALUES; v++) {
      for (int k = counts[part][v] - 1; k >= 0; k--) other[first + k] = k * step;
      first += counts[part][v] > 0 ? counts[part][v] + 1 : 0;
    }
  }
}

// Left before their end, in front of the store or behind it.
static void left_early(int *to, unsigned char *other, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        if (stops[next] == k) break;
        to[next++] = v - step;
      }
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        other[next++] = v + step;
        if (stops[next] == k) break;
      }
  }
}

// Loops and stores behind conditions, of the turn and of the loop around it.
static void conditions(int *to, int *other, double *third, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      if ((v + step) % 3)
        for (int k = 0; k < counts[part][v]; k++) to[next++] = v * step;
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        if (stops[next] & 1) other[next] = k + step;
        next++;
      }
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), first = part * ROOM;
    for (int v = 0; v < VALUES; v++) {
      int wanted = stops[part * ROOM + v] > 6;
      for (int k = 0; k < counts[part][v]; k++) {
        third[first + k] += 1;
        if (wanted) other[first + k] = k - step;
      }
      first += counts[part][v] > 0 ? counts[part][v] : 0;
    }
  }
}

// Several in a loop: of different sizes, of several marks each, to one object and with gaps.
static void together(int *to, struct three *other, unsigned char *letters, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        to[next] = v;
        other[next] = (struct three){{k, v, step}};
        long word = k * 1000003L + step;
        memcpy(letters + 8 * next, &word, sizeof word);
        next++;
      }
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES / 2; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        to[next] = k;
        to[next + ROOM / 2] = v;
        next++;
      }
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        to[next] = 3 * k + step;
        next += 2 - 1 * (next % ROOM > ROOM - 3);
      }
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = part * ROOM;
    for (int v = 0; v < VALUES / 2; v++)
      for (int k = 0; k < counts[part][v]; k++) {
        to[next] = 5 * k + step;
        next += 2;
      }
  }
}

// Indices just below the largest number.
static void large_indices(int *to, double *other, int step) {
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    int part = part_of(turn, step), next = INT_MAX - ROOM + 1;
    int *row = to + part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) row[(long)next++ - (INT_MAX - ROOM + 1)] = k + 2 * step;
  }
#pragma omp parallel for
  for (int turn = 0; turn < PARTS; turn++) {
    unsigned part = part_of(turn, step), next = UINT_MAX - ROOM + 1;
    double *row = other + part * ROOM;
    for (int v = 0; v < VALUES; v++)
      for (int k = 0; k < counts[part][v]; k++) row[(long)next++ - (UINT_MAX - ROOM + 1L)] = k - 2 * step;
  }
}

int main(void) {
  int *heap = calloc(N, sizeof *heap);
  double *values = calloc(N, sizeof *values);
  long sum = 1;
  for (int step = 0; step < 9; step++) {
    choose(step);
    one_behind_the_other(ints, doubles, step);
    downwards(shorts, more, step);
    sum = mixed(sum, ints, sizeof ints);
    left_early(heap, bytes, step);
    if (step % 2) sum = mixed(sum, more, sizeof more);
    conditions(ints, more, doubles, step);
    together(heap, threes, text, step);
    if (step % 3 == 0) sum = mixed(sum, heap, N * sizeof *heap);
    large_indices(ints, values, step);
    one_behind_the_other(heap, values, step + 1);
    printf("%d: %d %d %g %d\n", step, ints[17], more[4242], values[801], heap[8000]);
  }
  sum = mixed(sum, ints, sizeof ints);
  sum = mixed(sum, more, sizeof more);
  sum = mixed(sum, doubles, sizeof doubles);
  sum = mixed(sum, bytes, sizeof bytes);
  sum = mixed(sum, shorts, sizeof shorts);
  sum = mixed(sum, text, sizeof text);
  sum = mixed(sum, threes, sizeof threes);
  sum = mixed(sum, heap, N * sizeof *heap);
  sum = mixed(sum, values, N * sizeof *values);
  printf("%ld\n", sum);
  free(heap);
  free(values);
  return 0;
}
