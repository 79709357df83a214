// What happens to memory that a device has: threads, processes that are forked, destructors at the end, and faults of the
// program's and of kernels.
//
// RUN: %okl-c++ -O1 %s -o %t -pthread && OKL_BACKEND=cuda-emulated %t | FileCheck %s
// CHECK: threads 1 1 1 1, forked 1, others 1 1, 99999
// CHECK-NEXT: at the end 70
//
// RUN: export OKL_BACKEND=cuda-emulated; (%t kernel 2>&1; echo "ends with $?") | FileCheck --check-prefix=KERNEL %s
// KERNEL: thread 0 of block 392 reads 8 bytes at 0x{{[0-9a-f]+}}: 0 bytes behind an allocation of 401408 bytes
// KERNEL: okl: saxpy.okl:1: kernel saxpy accessed memory that is not there (cu{{[A-Za-z0-9_]+}}: CUDA_ERROR_ILLEGAL_ADDRESS, an illegal memory access was encountered)
// KERNEL-NEXT: ends with 70
// RUN: export OKL_BACKEND=cuda-emulated; (%t program; echo "ends with $?") 2>&1 | FileCheck --check-prefix=PROGRAM %s
// PROGRAM: 3
// PROGRAM: ends with 139
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "device_kernel.h"

static void saxpy(int n, double a, const double *x, double *y) {
  if (!launch(n, a, x, y, 128, 0)) std::abort();
}

struct AtTheEnd {
  std::vector<double> v;
  ~AtTheEnd() {
    std::printf("at the end %g\n", v[7]);
    std::fflush(stdout);
  }
};
static AtTheEnd at_the_end;

int main(int argc, char **argv) {
  int n = 50000;
  std::vector<double> x(n), y(n), z(n);
  for (int i = 0; i < n; i++) x[i] = i;
  if (argc > 1 && !std::strcmp(argv[1], "kernel")) {
    saxpy(n + 1000000, 1, x.data(), y.data());
    std::printf("%g\n", y[3]);
    return 0;
  }
  if (argc > 1) {
    saxpy(n, 1, x.data(), y.data());
    std::printf("%g\n", y[3]);
    std::fflush(stdout);
    *reinterpret_cast<volatile int *>(8) = 1;
  }
  at_the_end.v.resize(n);
  saxpy(n, 10, x.data(), at_the_end.v.data());
  saxpy(n, 1, x.data(), y.data());
  std::vector<std::thread> threads;
  bool right[4];
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      right[t] = true;
      for (int i = t * n / 4; i < (t + 1) * n / 4; i++) {
        right[t] = right[t] && y[i] == i;
        y[i]++;
      }
    });
  }
  for (auto &thread : threads) thread.join();
  // Memory of other threads, and such that the program has mapped.
  bool others[2];
  double here[20] = {};
  std::thread([&] {
    std::vector<double> w(100, 1.0);
    saxpy(100, 1, w.data(), z.data());
    saxpy(20, 3, w.data(), here);
    void *page = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *mapped = static_cast<double *>(page);
    saxpy(100, 2, w.data(), mapped + 100);
    others[0] = mapped[99] == 0 && mapped[100] == 2 && mapped[199] == 2 && mapped[200] == 0 && w[99] == 1;
    munmap(page, 1 << 20);
  }).join();
  others[1] = z[99] == 1 && z[100] == 0 && here[0] == 3 && here[19] == 3;
  pid_t child = fork();
  if (!child) {
    bool is_right = z[3] == 1;
    for (auto &one : y) one = 0;
    _exit(is_right ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  bool forked = !status && y[5] == 6 && !std::system("true");
  saxpy(n, 1, x.data(), y.data());
  std::printf("threads %d %d %d %d, forked %d, others %d %d, %g\n", right[0], right[1], right[2], right[3], forked, others[0],
              others[1], y[n - 1]);
}
