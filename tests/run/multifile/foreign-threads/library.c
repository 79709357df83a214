#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };

struct plan {
  double *from, *to;
  int n;
};

static struct plan *current;
static double sums[THREADS];
static pthread_t kept[THREADS];
static pthread_barrier_t barrier;
static int has_ended;

struct plan *make_plan(double *from, double *to, int n) {
  struct plan *plan = malloc(sizeof *plan);
  *plan = (struct plan){from, to, n};
  return plan;
}

static void work(long me) {
  int first = me * (current->n / THREADS), last = first + current->n / THREADS;
  double sum = 0;
  for (int i = first; i < last; i++) {
    sum += current->from[i];
    current->to[i] = current->to[i] * 0.5 + current->from[i];
  }
  sums[me] = sum;
}

static void *once(void *me) {
  work((long)me);
  if ((long)me % 2)
    pthread_exit(NULL);
  return NULL;
}

void execute(struct plan *plan) {
  pthread_t threads[THREADS];
  current = plan;
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, once, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void *again(void *me) {
  for (;;) {
    pthread_barrier_wait(&barrier);
    if (has_ended)
      return NULL;
    work((long)me);
    pthread_barrier_wait(&barrier);
  }
}

void execute_again(struct plan *plan) {
  current = plan;
  if (kept[0] == 0) {
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
      pthread_create(&kept[i], NULL, again, (void *)i);
  }
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
}

double checksum(void) {
  double sum = 0;
  for (int i = 0; i < THREADS; i++)
    sum += sums[i] * (i + 1);
  return sum;
}

void end(struct plan *plan) {
  has_ended = 1;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++)
    pthread_join(kept[i], NULL);
  free(plan);
}
