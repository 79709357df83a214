// Counts what a program allocates, but for what OpenMP's run time does, which depends on how its threads meet. It takes the place of
// the C library's functions, so that it is linked with programs that run on one process alone.
#define _GNU_SOURCE
#include "chains.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *old);

#define CALLER __builtin_return_address(0)

static atomic_int counts;
static atomic_long now, most;

static _Thread_local int leaves;

void count_allocated(int how) {
  if (how)
    now = most = 0;
  counts = how;
}

void leave_out(int how) { leaves = how; }

size_t most_allocated(void) { return (size_t)most; }

static const void *object_of(const void *address) {
  Dl_info found;
  return dladdr(address, &found) ? found.dli_fbase : NULL;
}

static void add(long bytes, const void *caller) {
  if (!counts || leaves || object_of(caller) == object_of((const void *)omp_get_wtime))
    return;
  long all = atomic_fetch_add(&now, bytes) + bytes, before = most;
  while (before < all && !atomic_compare_exchange_weak(&most, &before, all))
    ;
}

static void *counted(void *memory, const void *caller) {
  if (memory)
    add((long)malloc_usable_size(memory), caller);
  return memory;
}

void free(void *old) {
  if (old)
    add(-(long)malloc_usable_size(old), CALLER);
  __libc_free(old);
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes), CALLER); }
void *calloc(size_t count, size_t bytes) { return counted(__libc_calloc(count, bytes), CALLER); }
void *memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes), CALLER); }
void *aligned_alloc(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes), CALLER); }

void *realloc(void *old, size_t bytes) {
  long before = old ? (long)malloc_usable_size(old) : 0;
  void *memory = __libc_realloc(old, bytes);
  if (memory || !bytes)
    add((memory ? (long)malloc_usable_size(memory) : 0) - before, CALLER);
  return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  void *found = __libc_memalign(alignment, bytes);
  if (!found)
    return ENOMEM;
  *memory = counted(found, CALLER);
  return 0;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  long found = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
  if (found == -1)
    return MAP_FAILED;
  if (flags & MAP_ANONYMOUS)
    add((long)bytes, CALLER);
  return (void *)found;
}

int munmap(void *address, size_t bytes) {
  add(-(long)bytes, CALLER);
  return (int)syscall(SYS_munmap, address, bytes);
}
