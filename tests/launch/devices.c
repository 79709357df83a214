// Kernels on a device, which is emulated: memory of all kinds, that of the program's own, and what it costs; without one the
// processor runs them, or the user is told.
//
// RUN: %okl-cc -O1 %s -o %t && readelf -d %t | FileCheck --check-prefix=NEEDED %s
// NEEDED: [libokl_gpu.so]
// NEEDED-NOT: [libokl_cpu.so]
// RUN: OKL_BACKEND=cpu %t | FileCheck --check-prefix=PROCESSOR %s
// PROCESSOR: right, 16 on the processor
//
// Of the heap's large blocks x goes there once, and y once, and then when it was copied and read into.
// RUN: OKL_BACKEND=cuda-emulated OKL_STATS=1 %t 2>&1 | FileCheck %s
// CHECK: okl: kernels on okl PTX machine sm_90
// CHECK-NEXT: kernel launches milliseconds MB to device MB from device registers occupancy at
// CHECK-NEXT: saxpy 16 {{[0-9.]+}} {{[34]\.[0-9]+}} {{[34]\.[0-9]+}} ? ? saxpy.okl:1
// CHECK: right, 0 on the processor
//
// RUN: export OKL_BACKEND=cuda-emulated; for words in devices=0 driver=10020 memory=500000 lost=3 capability=60; do OKL_PTX_MACHINE=$words %t 2>&1 || echo "ends with $?"; done | grep -v '^okl-ptx-machine' | FileCheck --check-prefix=WRONG %s
// WRONG: okl: saxpy.okl:1: kernel saxpy: there is no emulated CUDA device (cuInit: CUDA_ERROR_NO_DEVICE, no CUDA-capable device is detected): install okl again
// WRONG-NEXT: ends with 70
// WRONG-NEXT: okl: saxpy.okl:1: kernel saxpy: its code needs a driver of emulated CUDA 11.0, and this one has 10.2: install a newer one
// WRONG-NEXT: ends with 70
// WRONG-NEXT: okl: saxpy.okl:1: kernel saxpy: the memory of okl PTX machine sm_90 is full (for 802816 bytes, cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY, out of memory); this program has 0 bytes of its heap there and 0 of okl_malloc: use smaller data, or more ranks with a device each
// WRONG-NEXT: ends with 70
// WRONG-NEXT: okl: saxpy.okl:1: kernel saxpy: okl PTX machine sm_90 does not answer any more ({{.*}}): it may have to be reset, or the machine started again
// WRONG-NEXT: ends with 70
// WRONG-NEXT: okl: saxpy.okl:1: kernel saxpy: its code is for devices from sm_70 on, and okl PTX machine sm_60 is sm_60: compile it for that one
// WRONG-NEXT: ends with 70
//
// A driver that cannot be loaded, and a kernel that does not end.
// RUN: mkdir -p %t.d && : >%t.d/libcuda.so.1 && (LD_LIBRARY_PATH=%t.d OKL_BACKEND=cuda %t 2>&1; echo "ends with $?") | FileCheck --check-prefix=NONE %s
// NONE: okl: saxpy.okl:1: kernel saxpy: there is no CUDA ({{.*}}libcuda.so.1{{.*}}): install NVIDIA's driver, or run without a device with OKL_BACKEND=cuda-emulated
// NONE-NEXT: ends with 70
// RUN: (OKL_PTX_MACHINE=instructions=100 OKL_BACKEND=cuda-emulated %t 2>&1; echo "ends with $?") | FileCheck --check-prefix=ENDLESS %s
// ENDLESS: okl: saxpy.okl:1: kernel saxpy {{.*}}(cu{{.*}}: CUDA_ERROR_LAUNCH_TIMEOUT
// ENDLESS-NEXT: ends with 70
//
// RUN: for backend in cpu gpu; do (OKL_BACKEND=$backend %t device 2>&1; echo "ends with $?"); done | FileCheck --check-prefix=OTHER %s
// OTHER: okl: saxpy.okl:1: kernel saxpy: OKL_BACKEND=cpu, and it was not compiled for the processor: compile it with cpu among its targets
// OTHER-NEXT: ends with 70
// OTHER-NEXT: okl: OKL_BACKEND=gpu: valid values for kernels on devices are cuda, cuda-emulated, hip, spirv and cpu
// OTHER-NEXT: ends with 70
//
// RUN: %okl-cc -O1 -DPTX='".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry saxpy() { nonsense; }\n"' %s -o %t.refused && (OKL_BACKEND=cuda-emulated %t.refused 2>&1; echo "ends with $?") | grep -v '^okl-ptx-machine' | FileCheck --check-prefix=REFUSED %s
// REFUSED: okl: saxpy.okl:1: kernel saxpy: the driver refuses its code (cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX, {{.*}}):
// REFUSED: nonsense
// REFUSED: ends with 70
#include <okl_device.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_kernel.h"

static int on_processor, is_for_devices;

static void saxpy(int n, double a, const double *x, double *y) {
  if (launch(n, a, x, y, 128, !is_for_devices)) return;
  on_processor++;
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

static double variable[50000];

static void check(const char *what, const double *y, int n, double a) {
  for (int i = 0; i < n; i++) {
    if (y[i] != a * i) {
      printf("%s: number %d is %g\n", what, i, y[i]);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  int n = 100000;
  double *x = malloc(n * sizeof *x), *y = calloc(n, sizeof *y), *small = calloc(300, sizeof *small), on_stack[500] = {0};
  is_for_devices = argc > 1;
  for (int i = 0; i < n; i++) x[i] = i;
  for (int i = 0; i < 9; i++) saxpy(n, 1.0, x, y);
  check("the heap", y, n, 9);
  saxpy(500, 2.0, x, on_stack);
  check("the stack", on_stack, 500, 2);
  saxpy(300, 3.0, x, small);
  check("a small block", small, 300, 3);
  saxpy(50000, 4.0, x, variable);
  check("a variable", variable, 50000, 4);

  double *own = okl_malloc(n * sizeof *own);
  okl_copy(own, x, n * sizeof *own);
  saxpy(n, 1.0, x, own);
  okl_copy(y, own, n * sizeof *own);
  okl_free(own);
  check("the device's own", y, n, 2);

  saxpy(n, 1.0, x, y);
  FILE *file = tmpfile();
  if (fwrite(y, sizeof *y, n, file) != (size_t)n) return 1;
  rewind(file);
  saxpy(n, 1.0, x, y);
  if (fread(y, sizeof *y, n, file) != (size_t)n) return 1;
  saxpy(n, 1.0, x, y);
  check("a file", y, n, 4);
  okl_sync();
  printf("right, %d on the processor\n", on_processor);
  (void)argv;
}
