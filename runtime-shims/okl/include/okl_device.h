// Memory of the device that kernels run on, for C and C++ programs that manage it themselves: #include <okl_device.h>.
//
//   double *x = okl_malloc(n * sizeof(double));
//   okl_copy(x, host, n * sizeof(double));
//   step(n, x);                                  // a kernel
//   okl_copy(host, x, n * sizeof(double));
//   okl_free(x);
//
// A kernel takes such memory as it takes the program's own, which needs nothing of this: it moves to and fro by itself. Where
// kernels run on the processor (OKL_BACKEND=cpu, or no device), this is memory as of malloc. What cannot be done ends the
// program with a message.
#ifndef OKL_DEVICE_H
#define OKL_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of the device's memory, which are not set. The program itself cannot access them; an address in them may be computed.
void *okl_malloc(size_t bytes);

// Gives them back, when all kernels have run that were launched before; nothing is done for a null pointer.
void okl_free(void *address);

// Copies bytes, when all kernels have run that were launched before. Either may be memory of okl_malloc or of the program.
// What the program has copied from it may change afterwards, and what it has copied to it is there.
void okl_copy(void *to, const void *from, size_t bytes);

// Waits until all kernels have run that were launched. Only clocks need it: what a kernel wrote is there when it is read.
void okl_sync(void);

#ifdef __cplusplus
}
#endif

#endif
