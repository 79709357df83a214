// The user's plug-ins: what they state becomes regions; what okl cannot do with it stays as it is, with a remark; and what is
// wrong with a plug-in is an error.
//
// RUN: %okl-cc -shared -fPIC -DPLUGIN -I$(llvm-config-22 --includedir) %s -o %t.so
// RUN: %okl-cc -O1 -g --okl-target=cpu --okl-plugin=%t.so -Rpass-missed=okl %s -o %t 2>&1 | FileCheck %s
// RUN: OMP_NUM_THREADS=3 %t | FileCheck --check-prefix=RUNS %s
// RUN: not %okl-cc -O1 -g --okl-strict --okl-plugin=%t.so -c %s -o %t.o 2>&1 | FileCheck --check-prefix=STRICT %s
// RUN: echo 'declare void @each(i64, ptr, ptr)' | opt-22 -load-pass-plugin=%plugin -passes='okl-plugins<%t.so>' -disable-output
// RUN: for wrong in 1 2 3 4 5 6 7 8 9 10; do %okl-cc -shared -fPIC -DPLUGIN -DWRONG=$wrong -I$(llvm-config-22 --includedir) %s -o %t.$wrong.so && not %okl-cc -g --okl-plugin=%t.$wrong.so -c %s -o %t.o || exit 1; done > %t.told 2>&1; FileCheck --check-prefix=WRONG --implicit-check-not='internal error' %s < %t.told
// RUN: cd / && for none in / none.so %runtime-dir/libokl_cpu.so ""; do not %okl-cc --okl-plugin=$none -c %s -o %t.o || exit 1; done > %t.told 2>&1; FileCheck --check-prefix=NONE %s < %t.told
//
// RUN: echo 'extern "C" int each(long, void (*)(long, void *), void *); void some(long, void *); struct S { ~S(); }; void f(void *data) { each(1, some, data); } void g(void *data) { S s; each(1, some, data); }' | %okl-c++ -x c++ - -c -O1 -g --okl-plugin=%t.so -Rpass-missed=okl -o %t.o 2>&1 | FileCheck --check-prefix=THROWS %s
//
// CHECK-DAG:  plugin.c:[[#POINTER:]]:3: remark: mine: this call stays as it is: what it runs is no function that the compiler knows
// CHECK-DAG:  plugin.c:[[#POINTER + 3]]:3: remark: mine: this call stays as it is: what it runs is no function void(integer, pointer)
// CHECK-DAG:  plugin.c:[[#POINTER + 6]]:26: remark: mine: this call stays as it is: its result is used
// CHECK-DAG:  plugin.c:[[#POINTER + 7]]:3: remark: mine: this call stays as it is: what it runs is called otherwise than functions of C are
// CHECK-NOT:  remark
// STRICT-DAG: plugin.c:[[#]]:3: error: mine: this call stays as it is: what it runs is no function that the compiler knows
// STRICT-DAG: plugin.c:[[#]]:26: error: mine: this call stays as it is: its result is used
// THROWS-DAG: remark: mine: this call stays as it is: what it runs may throw an exception
// THROWS-DAG: remark: mine: this call stays as it is: exceptions of what it calls are handled around it
// RUNS:       sum of squares 332833500, of 3 threads
// RUNS-NEXT:  others 55 55 55 11 1
//
// WRONG:      error: plug-in {{.*}}.1.so: it has failed, with 7
// WRONG:      error: plug-in {{.*}}.2.so: what it has left is no valid module: {{.*}}
// WRONG:      plugin.c: mine: it is not what I want
// WRONG:      plugin.c: mine: the plug-in states a loop at what is no call of the module: see okl_plugin.h
// WRONG:      plugin.c:{{[0-9]+}}:{{[0-9]+}}: error: mine: the plug-in states a loop, and leaves out what it is made of: see okl_plugin.h
// WRONG:      error: plug-in {{.*}}.4.so: it was compiled for LLVM 21, and this is LLVM 22
// WRONG:      error: plug-in {{.*}}.5.so: it is linked to an LLVM of its own; leave that out
// WRONG:      plugin.c:{{[0-9]+}}:3: error: mine: the plug-in states a loop twice: see okl_plugin.h
// WRONG:      plugin.c:{{[0-9]+}}:3: error: mine: the plug-in states a loop whose count is not known at the call: see okl_plugin.h
// WRONG:      error: plug-in {{.*}}.8.so: it has erased a call that it has stated as a loop
// WRONG:      plugin.c:{{[0-9]+}}:3: error: mine: the plug-in states a loop by what is of another LLVM context: see okl_plugin.h
// WRONG:      error: plug-in {{.*}}.10.so: what it has stated of a loop is not known at the call
// NONE:       error: plug-in /: it cannot be loaded: {{.*}}
// NONE:       error: plug-in /none.so: it cannot be loaded: /none.so: cannot open shared object file
// NONE:       error: plug-in {{.*}}libokl_cpu.so: it is no plug-in of this version of okl: it has no okl_plugin_entry_v1, as OKL_PLUGIN of okl_plugin.h makes it
// NONE:       unknown option '--okl-plugin='
#ifdef PLUGIN
#ifndef WRONG
#define WRONG 0
#endif
#if WRONG == 4
#include <llvm/Config/llvm-config.h>
#undef LLVM_VERSION_MAJOR
#define LLVM_VERSION_MAJOR 21
#elif WRONG == 5
void of_another_llvm(void) __asm__("LLVMGetVersion");
void of_another_llvm(void) {}
#endif
#include <okl_plugin.h>

#include <llvm-c/Core.h>

static int recognise(const okl_v1 *okl, LLVMModuleRef module) {
  LLVMValueRef each = LLVMGetNamedFunction(module, "each");
#if WRONG == 1
  return 7;
#elif WRONG == 2
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "square"))));
#elif WRONG == 3
  okl_parallel_for_v1 none = {each, each, each, each};
  okl->error(okl, 0, "it is not what I want");
  okl->parallel_for(okl, &none);
  none.call = LLVMGetUser(LLVMGetFirstUse(each)), none.body = 0;
  okl->parallel_for(okl, &none);
#else
  for (LLVMUseRef use = LLVMGetFirstUse(each); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef call = LLVMGetUser(use);
    okl_parallel_for_v1 loop = {call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), LLVMGetOperand(call, 2)};
#if WRONG == 7
    loop.count = LLVMGetParam(LLVMGetNamedFunction(module, "square"), 0);
#elif WRONG == 9
    loop.count = LLVMConstInt(LLVMInt64TypeInContext(LLVMContextCreate()), 3, 0);
#elif WRONG == 10
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(call));
    loop.data = LLVMBuildAlloca(builder, LLVMTypeOf(loop.count), "");
    LLVMDisposeBuilder(builder);
#endif
    int is_other = okl->parallel_for(okl, &loop);
    if (!is_other && WRONG == 6)
      okl->parallel_for(okl, &loop);
    if (!is_other && WRONG == 8) {
      LLVMInstructionEraseFromParent(call);
      break;
    }
  }
#endif
  return 0;
}

OKL_PLUGIN("mine", recognise)
#else
#include <stdio.h>

int omp_get_num_threads(void);

struct data {
  long values[1000], sum;
};

static void square(long i, void *data) {
  ((struct data *)data)->values[i] = i * i;
  if (i == 0)
    ((struct data *)data)->sum = omp_get_num_threads();
}

static int wrong(long i, void *data) { return ((struct data *)data)->sum += i, 0; }

static void add(long i, void *data) { ((struct data *)data)->sum += i; }

static int called;

static __attribute__((preserve_most)) void convention(long i, void *data) { called += i == 10; }

void (*volatile pointer)(long i, void *data) = add;

int each(long count, void (*body)(long i, void *data), void *data) {
  for (long i = 0; i < count; i++)
    body(i, data);
  return count;
}

int main(void) {
  static struct data data;
  each(1000, square, &data);
  long threads = data.sum, sum = 0;
  for (int i = 0; i < 1000; i++)
    sum += data.values[i];
  printf("sum of squares %ld, of %ld threads\n", sum, threads);

  data.sum = 0;
  each(11, pointer, &data);
  printf("others %ld", data.sum);
  data.sum = 0;
  each(11, (void (*)(long, void *))wrong, &data);
  printf(" %ld", data.sum);
  data.sum = 0;
  printf(" %ld %d", 55L, each(11, add, &data));
  each(11, (void (*)(long, void *))convention, &data);
  printf(" %d\n", called);
}
#endif
