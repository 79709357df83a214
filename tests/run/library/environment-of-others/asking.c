#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int stopped;
static pthread_t thread;

static void *ask(void *nothing) {
  while (!stopped) {
    getenv("OKL_NEVER_SET");
    usleep(50);
  }
  return nothing;
}

__attribute__((constructor)) static void start(void) { pthread_create(&thread, NULL, ask, NULL); }

void stop_asking(void) {
  stopped = 1;
  pthread_join(thread, NULL);
}
