/* Plug-ins of okl's: a shared library that tells okl of parallel loops which it does not know itself, or that has loops run by
 * what okl does not know.
 *
 *   okl-cc -O2 --okl-plugin=./libmine.so program.c
 *   okl-cc -O2 -fopenmp --okl-plugin=./libmine.so --okl-target=pool program.c
 *
 * The library has OKL_PLUGIN("mine", recognise), OKL_PLUGIN_TARGET("pool", parallel_for), or both, in C or extern "C", and works on each
 * file's module by LLVM's C API: as the compiler made it, or when okl has found its loops. It is not linked to LLVM: the compiler
 * that loads it has it. docs/plugins.md is a tutorial.
 *
 * What has a number in its name stays as it is. */
#ifndef OKL_PLUGIN_H
#define OKL_PLUGIN_H

#include <llvm-c/Types.h>
#include <llvm/Config/llvm-config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call in the module that runs body(i, data) for each i from 0 to count - 1, in any order and at the same time, returns when
 * all have run, and does nothing else that anybody sees. */
typedef struct okl_parallel_for_v1 {
  LLVMValueRef call;
  LLVMValueRef count; /* An integer with a sign, known at the call. */
  LLVMValueRef body;  /* A function void(integer, pointer). */
  LLVMValueRef data;  /* A pointer, known at the call. */
} okl_parallel_for_v1;

/* What okl offers while a plug-in works on a module. */
typedef struct okl_v1 {
  void *state; /* okl's own. */
  /* States a loop. The call becomes one when the plug-in has returned, and has to stay until then. Returns 0; or another
   * number where okl cannot do that: then the call stays as it is, and okl tells the user why, as a remark. */
  int (*parallel_for)(const struct okl_v1 *okl, const okl_parallel_for_v1 *loop);
  /* Tells the user of something at an instruction, or of the module where that is NULL: an error, which ends the
   * compilation when the plug-in has returned; or a remark (-Rpass-missed=okl), which needs an instruction. */
  void (*error)(const struct okl_v1 *okl, LLVMValueRef at, const char *text);
  void (*remark)(const struct okl_v1 *okl, LLVMValueRef at, const char *text);
} okl_v1;

/* What a plug-in is. */
typedef struct okl_plugin_v1 {
  unsigned size; /* sizeof(okl_plugin_v1) */
  unsigned llvm; /* LLVM_VERSION_MAJOR: of the headers that it was compiled with. */
  const char *name;
  /* Works on a module. It may change it as long as it means the same. Returns 0; or another number where that has failed,
   * which is an error. */
  int (*recognise)(const okl_v1 *okl, LLVMModuleRef module);
} okl_plugin_v1;

/* Stands in the library: okl knows by its name which version of all that the library is written for. */
#define OKL_PLUGIN(...)                                                                                    \
  __attribute__((visibility("default"))) const okl_plugin_v1 *okl_plugin_entry_v1(void) {                  \
    static const okl_plugin_v1 plugin = {sizeof(okl_plugin_v1), LLVM_VERSION_MAJOR, __VA_ARGS__};          \
    return &plugin;                                                                                        \
  }

/* A parallel loop that okl has found, for a target. */
typedef struct okl_target_loop_v1 {
  /* What runs the loop is built in front of this instruction, whose function and module it is in. The plug-in leaves it; okl
   * erases it if the loop is taken. */
  LLVMValueRef before;
  /* How many iterations there are, as an i64: 0 or more. */
  LLVMValueRef count;
  /* A function void(i64 from, i64 to, ptr data) that runs the iterations from .. to - 1 in their order, and throws nothing. Each of
   * 0 .. count - 1 has to be run once, by any thread, in parts of any length; parts may run at the same time. */
  LLVMValueRef body;
  /* What body gets as data: a pointer, which is good until the code in front of `before` has run. */
  LLVMValueRef data;
} okl_target_loop_v1;

/* What a target is. */
typedef struct okl_plugin_target_v1 {
  unsigned size; /* sizeof(okl_plugin_target_v1) */
  unsigned llvm; /* LLVM_VERSION_MAJOR */
  const char *name; /* What the user calls it, by --okl-target=. */
  /* Builds what runs a loop, and waits for all of it. Returns NULL; or, where it has built nothing, why not: then OpenMP's threads
   * run the loop, and the user is told with -Rpass-missed=okl. */
  const char *(*parallel_for)(const okl_target_loop_v1 *loop);
} okl_plugin_target_v1;

#define OKL_PLUGIN_TARGET(...)                                                                             \
  __attribute__((visibility("default"))) const okl_plugin_target_v1 *okl_plugin_target_entry_v1(void) {    \
    static const okl_plugin_target_v1 target = {sizeof(okl_plugin_target_v1), LLVM_VERSION_MAJOR,          \
                                                __VA_ARGS__};                                              \
    return &target;                                                                                        \
  }

#ifdef __cplusplus
}
#endif

#endif
