// What the driver makes of OKL's attributes.
#pragma once
#define KERNEL extern "C" __attribute__((annotate("okl.kernel")))
#define KERNEL_OF_TYPES __attribute__((annotate("okl.kernel")))
#define OUTER __attribute__((annotate("okl.outer")))
#define OUTER_AXIS(axis) __attribute__((annotate("okl.outer", axis)))
#define INNER __attribute__((annotate("okl.inner")))
#define INNER_AXIS(axis) __attribute__((annotate("okl.inner", axis)))
#define SHARED __attribute__((annotate("okl.shared")))
#define EXCLUSIVE __attribute__((annotate("okl.exclusive")))
#define NOBARRIER __attribute__((annotate("okl.nobarrier")))
#define MAX_INNER_DIMS(...) __attribute__((annotate("okl.max_inner_dims", __VA_ARGS__)))
// Kinds are "outer", "inner" and "regular"; a size of 0 is that of SIZED.
#define TILE(size, outer, inner, check) __attribute__((annotate("okl.tile", size, outer, -1, inner, -1, check)))
#define SIZED(size, first) (__okl_tile_size(size), first)
extern "C" {
__attribute__((nothrow)) void __okl_tile_size(long long size);
__attribute__((convergent)) void __okl_barrier(int kind);
void __okl_atomic_begin(int is_block);
void __okl_atomic_end();
}
#define BARRIER __okl_barrier(0)
#define ATOMIC(statement) \
  { \
    __okl_atomic_begin(0); \
    statement; \
    __okl_atomic_end(); \
  }
