// The four loops on a box as a programmer writes them, and what pragmas say of them.
#define AS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifndef NEST
#define NEST(...) AS_PRAGMA(omplc for __VA_ARGS__)
#endif
#define DOMAIN(ROWS, COLUMNS) \
  domain(0 : COMPONENTS - 1, -(ROWS) : n - 1 + (ROWS), -(COLUMNS) : n - 1 + (COLUMNS)) with(c, j, i)

#define FOR(ROWS, COLUMNS)                          \
  for (int c = 0; c < COMPONENTS; c++)              \
    for (int j = -(ROWS); j < n + (ROWS); j++)      \
      for (int i = -(COLUMNS); i < n + (COLUMNS); i++)

#define ROW_SLOPES(IN, OUT)                                                                            \
  NEST(DOMAIN(BESIDE, BESIDE) read IN{(c, j, i - 1), (c, j, i), (c, j, i + 1)}, write OUT{(c, j, i)})  \
  FOR(BESIDE, BESIDE)                                                                                  \
  OUT[CELL(c, j, i)] = limited_slope(IN[CELL(c, j, i - 1)], IN[CELL(c, j, i)], IN[CELL(c, j, i + 1)]);

#define ROWS(IN, SLOPES, OUT)                                                                                              \
  NEST(DOMAIN(BESIDE, 0) read IN{(c, j, i - 2), (c, j, i - 1), (c, j, i), (c, j, i + 1), (c, j, i + 2)},                   \
       read SLOPES{(c, j, i - 2), (c, j, i), (c, j, i + 1), (c, j, i + 2)}, write OUT{(c, j, i)})                          \
  FOR(BESIDE, 0)                                                                                                           \
  OUT[CELL(c, j, i)] = limited_face(IN + CELL(c, j, i), SLOPES + CELL(c, j, i), 1);

#define COLUMN_SLOPES(IN, OUT)                                                                    \
  NEST(DOMAIN(BESIDE, 0) read IN{(c, j - 1, i), (c, j, i), (c, j + 1, i)}, write OUT{(c, j, i)})  \
  FOR(BESIDE, 0)                                                                                  \
  OUT[CELL(c, j, i)] = limited_slope(IN[CELL(c, j - 1, i)], IN[CELL(c, j, i)], IN[CELL(c, j + 1, i)]);

#define COLUMNS(IN, SLOPES, OUT)                                                                                           \
  NEST(DOMAIN(0, 0) read IN{(c, j - 2, i), (c, j - 1, i), (c, j, i), (c, j + 1, i), (c, j + 2, i)},                        \
       read SLOPES{(c, j - 2, i), (c, j, i), (c, j + 1, i), (c, j + 2, i)}, write OUT{(c, j, i)})                          \
  FOR(0, 0)                                                                                                                \
  OUT[CELL(c, j, i)] = limited_face(IN + CELL(c, j, i), SLOPES + CELL(c, j, i), n + 2L * GHOSTS);
