// Integers of any width: captured, reduced, indices of loops.
// RUN: %S/compile %plugin %s -std=c23
typedef unsigned _BitInt(7) small;
typedef _BitInt(48) middle;
typedef _BitInt(128) wide;
typedef _BitInt(200) huge;
small smalls[30];
huge huges[30];

int main(void) {
  middle s = 0;
  wide w = 1;
  __int128 x = 3;
  unsigned __int128 total = 0;
#pragma omp parallel for reduction(+ : s, total) firstprivate(w, x)
  for (int i = 0; i < 30; i++) {
    smalls[i] = (small)i;
    huges[i] = (huge)w << i;
    s += smalls[i];
    total += x;
  }
#pragma omp parallel for
  for (_BitInt(40) i = 0; i < 20; i++)
    smalls[(int)i]++;
#pragma omp parallel for
  for (__int128 i = 0; i < 4; i++)
#pragma omp atomic
    s += 1;
  return (int)(s + (middle)huges[3] + (middle)total) > 0 ? 0 : 1;
}
