// The nine loops on a box as a programmer writes them, and what pragmas say of them. X, Y and Z are the arrays that have the faces of
// a direction; they may be one. NEST says how what follows is annotated.
#define AS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifndef NEST
#define NEST(...) AS_PRAGMA(omplc for __VA_ARGS__)
#endif
#define CELLS_AND_FACES(FIRST, SECOND, THIRD) domain(0 : n - 1 + FIRST, 0 : n - 1 + SECOND, 0 : n - 1 + THIRD) with(k, j, i)

#define FOR(FIRST, SECOND, THIRD)            \
  for (int k = 0; k < n + (FIRST); k++)      \
    for (int j = 0; j < n + (SECOND); j++)   \
      for (int i = 0; i < n + (THIRD); i++)

#define DIRECTION(A, VELOCITY, DK, DJ, DI, BEFORE, OTHERS)                                                                  \
  NEST(CELLS_AND_FACES(DK, DJ, DI) read old_cells{BEFORE, (k, j, i), OTHERS}, write A{(k, j, i)})                           \
  FOR(DK, DJ, DI)                                                                                                           \
  for (int c = 0; c < COMPONENTS; c++)                                                                                      \
    A[FACE(c, k, j, i)] = FACE_VALUE(old_cells[CELL(c, k - 2 * (DK), j - 2 * (DJ), i - 2 * (DI))],                          \
                                     old_cells[CELL(c, k - (DK), j - (DJ), i - (DI))], old_cells[CELL(c, k, j, i)],         \
                                     old_cells[CELL(c, k + (DK), j + (DJ), i + (DI))]);                                     \
  NEST(CELLS_AND_FACES(DK, DJ, DI) read A{(k, j, i)}, write A{(k, j, i)})                                                   \
  FOR(DK, DJ, DI) {                                                                                                         \
    double velocity = A[FACE(VELOCITY, k, j, i)];                                                                           \
    for (int c = 0; c < COMPONENTS; c++)                                                                                    \
      A[FACE(c, k, j, i)] *= velocity;                                                                                      \
  }                                                                                                                         \
  NEST(CELLS_AND_FACES(0, 0, 0) read A{(k, j, i), OTHERS}, read new_cells{(k, j, i)}, write new_cells{(k, j, i)})           \
  FOR(0, 0, 0)                                                                                                              \
  for (int c = 0; c < COMPONENTS; c++)                                                                                      \
    new_cells[CELL(c, k, j, i)] += A[FACE(c, k, j, i)] - A[FACE(c, k + (DK), j + (DJ), i + (DI))];

#define LOOPS(X, Y, Z)                                                                    \
  DIRECTION(X, 1, 0, 0, 1, BEHIND((k, j, i - 2), (k, j, i - 1)), (k, j, i + 1))           \
  DIRECTION(Y, 2, 0, 1, 0, BEHIND((k, j - 2, i), (k, j - 1, i)), (k, j + 1, i))           \
  DIRECTION(Z, 3, 1, 0, 0, BEHIND((k - 2, j, i), (k - 1, j, i)), (k + 1, j, i))
#define BEHIND(SECOND, FIRST) SECOND, FIRST
