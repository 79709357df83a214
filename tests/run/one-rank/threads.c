// One rank is plain OpenMP: threads that wait for each other, teams of the size that is asked for, nested ones.
// ranks: 0 1
// threads: 2
// warns: runs on rank 0 alone
#include <omp.h>
#include <stdio.h>

static int volatile flag;
static int private_to_thread = 5;
#pragma omp threadprivate(private_to_thread)

static int nested(void) {
  int inner = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner)
  inner += omp_get_num_threads();
  return inner;
}

int main(void) {
  // Thread 0 goes on only when thread 1 has run.
  int seen = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
#pragma omp flush
      flag = 1;
    } else {
      while (!flag) {
      }
      seen = 1;
    }
  }
  int four = 0, asked = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp atomic
    four++;
#pragma omp single
    asked = omp_get_num_threads();
  }
  omp_set_max_active_levels(2);
  int total = 0;
#pragma omp parallel num_threads(2) reduction(+ : total)
  total += nested();
  private_to_thread = 7;
  int copied = 0, kept = 0;
#pragma omp parallel num_threads(3) copyin(private_to_thread) reduction(+ : copied)
  {
    copied += private_to_thread;
    private_to_thread += omp_get_thread_num();
  }
#pragma omp parallel num_threads(3) reduction(+ : kept)
  kept += private_to_thread;
  // A task that another thread has to run.
  int ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int volatile done = 0;
#pragma omp task shared(done, ran)
    {
      ran = 1;
#pragma omp atomic write release
      done = 1;
    }
#pragma omp taskwait
  }
  printf("%d %d %d %d %d %d %d %d\n", seen, four, asked, total, copied, kept, ran, omp_get_max_threads());
  return 0;
}
