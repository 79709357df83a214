// A POSIX mutex works inside one process only.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls pthread_mutex_lock, which works inside one process only
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  long total = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex);
    total += i;
    pthread_mutex_unlock(&mutex);
  }
  printf("%ld\n", total);
  return 0;
}
