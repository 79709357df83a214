#include "arrays.h"
// Linked first, and without a region: the arrays keep the alignment that the linker may take for all.
int *elsewhere() {
  odd[0]++;
  Buffer<int>::data[odd[1]] += 5;
  return table.v;
}
