// A thread writes the value that it wrote before, and another thread another one in between: each reads what the other
// wrote last.
// threads: any
#include <omp.h>
#include <stdio.h>

static unsigned char flag = 1, other[8000];
static int wrong;
static omp_lock_t lock;

int main(void) {
  omp_init_lock(&lock);
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
    {
      other[omp_get_thread_num()]++;
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
      for (int i = 0; i < 60; i++) {
#pragma omp ordered
        {
          if (flag != (i + 1) % 2) wrong++;
          flag = i % 2;
        }
      }
      for (int i = 0; i < 6; i++) {
        omp_set_lock(&lock);
        flag = flag == 2 ? 3 : 2;
        flag = flag == 2 ? 3 : 2;
        omp_unset_lock(&lock);
      }
#pragma omp barrier
#pragma omp single
      flag = 1;
    }
  }
  printf("%d\n", wrong);
  return wrong;
}
