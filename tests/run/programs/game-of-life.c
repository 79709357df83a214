// The game of life on a torus of characters.
// threads: any
#include <stdio.h>
#include <string.h>

enum { rows = 60, columns = 70 };
static char world[2][rows][columns];

int main(void) {
  unsigned state = 12345;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      state = state * 1103515245 + 12345;
      world[0][r][c] = (state >> 16) % 3 == 0;
    }
  int alive = 0;
  for (int t = 0; t < 30; t++) {
    char(*now)[columns] = world[t % 2], (*next)[columns] = world[(t + 1) % 2];
    alive = 0;
#pragma omp parallel for reduction(+ : alive) schedule(static, 3)
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < columns; c++) {
        int n = -now[r][c];
        for (int dr = -1; dr <= 1; dr++)
          for (int dc = -1; dc <= 1; dc++)
            n += now[(r + dr + rows) % rows][(c + dc + columns) % columns];
        next[r][c] = n == 3 || (n == 2 && now[r][c]);
        alive += next[r][c];
      }
  }
  unsigned hash = 0;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) hash = hash * 31 + (unsigned)world[0][r][c];
  printf("%d %u\n", alive, hash);
  return 0;
}
