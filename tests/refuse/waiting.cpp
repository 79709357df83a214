// std::atomic hides the accesses in functions, which clang inlines only later.
// RUN: for level in 0 2; do clang++-22 -O$level -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s || exit 1; done
#include <atomic>
#include <mutex>

std::atomic<int> flag{0};
std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::mutex mutex;

// CHECK: waiting.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it waits for another thread to change a variable, without a synchronisation point ({{.*}}waiting.cpp:[[# @LINE + 3]])
void load() {
#pragma omp parallel
  while (flag.load(std::memory_order_relaxed) == 0) {
  }
}

// CHECK: waiting.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void test_and_set(double *a) {
#pragma omp parallel
  {
    while (busy.test_and_set(std::memory_order_relaxed)) {
    }
    a[0]++;
    busy.clear();
  }
}

// CHECK: waiting.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void compare_exchange(double *a) {
#pragma omp parallel
  {
    int expected = 0;
    while (!flag.compare_exchange_weak(expected, 1, std::memory_order_relaxed)) expected = 0;
    a[0]++;
    flag = 0;
  }
}

// CHECK: waiting.cpp:[[# @LINE + 2]]:1: warning: {{.*}}it calls pthread_mutex_lock, which works inside one process only
void lock(double *a) {
#pragma omp parallel
  {
    std::lock_guard<std::mutex> guard(mutex);
    a[0]++;
  }
}

// CHECK-NOT: warning:
void update() {
#pragma omp parallel
  {
    int old = flag.load();
    while (!flag.compare_exchange_weak(old, old * 3)) {
    }
  }
}

void self_scheduling(double *a) {
#pragma omp parallel
  for (int i; (i = flag++) < 10;) a[i] = i;
}

void load_that_acquires() {
#pragma omp parallel
  while (flag.load(std::memory_order_acquire) == 0) {
  }
}

void converted() {
#pragma omp parallel
  while (flag == 0) {
  }
}

void spin_lock(double *a) {
#pragma omp parallel
  {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    a[0]++;
    busy.clear(std::memory_order_release);
  }
}

void lock_by_comparing(double *a) {
#pragma omp parallel
  {
    int expected = 0;
    while (!flag.compare_exchange_weak(expected, 1)) expected = 0;
    a[0]++;
    flag = 0;
  }
}
