// The thread of a rank that answers ranks on other nodes sleeps while nobody asks: it does not run while the program
// computes. (Another process looks at the ranks, once they compute and a second later.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s
//
// CHECK: service threads 3 3, woken 0 times
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

// For each service thread of some processes, how often it has stopped running.
static const char look[] =
    "look() { for p in %d %d %d; do for t in /proc/$p/task/*; do read name < $t/comm;"
    " [ $name = okl-service ] && sed -n 's/.*voluntary_ctxt_switches:[^0-9]*//p' $t/status; done; done; };"
    " sleep 0.5; echo $(look); sleep 1; echo $(look)";

int main(void) {
  int processes[3], count[2] = {0};
  long times[2] = {0}, more;
  double rest[3] = {0};
#pragma omp parallel
  processes[omp_get_thread_num()] = gettid();
  char command[1000];
  snprintf(command, sizeof command, look, processes[0], processes[1], processes[2]);
  FILE *looks = popen(command, "r");
#pragma omp parallel
  {
    double start = omp_get_wtime(), sum = 0;
    while (omp_get_wtime() < start + 3) sum = sum * 0.5 + 1;
    rest[omp_get_thread_num()] = sum;
  }
  char line[1000];
  for (int time = 0; time < 2 && fgets(line, sizeof line, looks); time++) {
    int length;
    // Both kinds, of each thread.
    for (char *text = line; sscanf(text, "%ld%n", &more, &length) == 1; text += length) times[time] += more, count[time]++;
  }
  pclose(looks);
  printf("service threads %d %d, woken %ld times\n", count[0] / 2, count[1] / 2, times[1] - times[0]);
  return rest[0] + rest[1] + rest[2] < 1;
}
