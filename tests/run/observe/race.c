// OKL_VERIFY=1 reports two ranks that write the same bytes, with the object and the region's line.
// reference: none
// flags: -gline-tables-only
// ranks: 2
// opt: -O0
// env: OKL_VERIFY=1
// limit: 20
// expect-stderr: shared_cells
// expect-stderr: race.c:17
// expect-stderr: a data race
#include <omp.h>
#include <stdio.h>

static int shared_cells[100];

int main(void) {
#pragma omp parallel
  shared_cells[17] = 5 + omp_get_thread_num();
  printf("%d\n", shared_cells[17] > 0);
  return 0;
}
