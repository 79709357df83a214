// omp_test_lock: exactly one holder at a time, and a failed test leaves the lock alone.
#include <omp.h>
#include <stdio.h>

int main(void) {
  omp_lock_t lock;
  int count = 0, refused = 0;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel reduction(+ : refused)
  // Its owner may not ask for it again.
  refused += omp_get_thread_num() > 0 && omp_test_lock(&lock) == 0;
  printf("%d\n", refused);
  omp_unset_lock(&lock);
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < 40; i++) {
    while (!omp_test_lock(&lock)) {
    }
    count += i;
    omp_unset_lock(&lock);
  }
  printf("%d %d\n", count, omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  return 0;
}
