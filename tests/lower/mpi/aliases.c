// A function that other modules know by another name is in the table, although its own name is
// local; calls through an alias count as calls of the function.
// RUN: clang-22 -O0 -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll

// CHECK-DAG: @[[CALLEES:okl.callees.*]] = private constant [1 x ptr] [ptr @hidden]
// CHECK-DAG: @okl.functions = private constant [2 x {{.*}}{ ptr @hidden, {{.*}}{ ptr @calls, ptr @{{[^,]*}}, ptr @[[CALLEES]], i64 1,
// CHECK-DAG: @public = dso_local alias void (), ptr @hidden
static void hidden(void) {}
void public(void) __attribute__((alias("hidden")));
void calls(void) { public(); }
