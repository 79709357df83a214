// copyin gives every thread the initial thread's values, again at each region that asks for it.
// threads: any
#include <stdio.h>
#include <string.h>

static int number = 1;
static char text[20] = "first";
static struct {
  int a[3];
} record;
#pragma omp threadprivate(number, text, record)

int main(void) {
  int wrong = 0;
  for (int round = 0; round < 4; round++) {
    number = round * 11;
    snprintf(text, sizeof text, "round %d", round);
    record.a[1] = -round;
    char expected[20];
    strcpy(expected, text);
#pragma omp parallel copyin(number, text, record) reduction(+ : wrong)
    {
      wrong += number != round * 11 || strcmp(text, expected) || record.a[1] != -round;
      number = -1;
      text[0] = 'x';
      record.a[1] = 99;
    }
    wrong += number != -1 || text[0] != 'x';
  }
  printf("%d\n", wrong);
  return 0;
}
