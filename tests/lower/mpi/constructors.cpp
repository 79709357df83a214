// Static constructors go into the table, and on one rank are called as ever. That of an inline variable leaves the variable's comdat,
// because the linker would drop what the table refers to.
// RUN: clang++-22 -O0 -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang++-22 -O2 -fPIC -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.1.o
// RUN: clang++-22 -O2 -fPIC -DSECOND -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.2.o
// RUN: clang++-22 -shared %t.1.o %t.2.o -o %t.so
// RUN: clang++-22 -shared -fuse-ld=lld %t.1.o %t.2.o -o %t.lld.so

int f();
inline int shared_by_modules = f();
#ifdef SECOND
int g() { return shared_by_modules; }
#else
static int own = f();
int h() { return shared_by_modules + own; }
__attribute__((constructor(200))) static void early() { f(); }
__attribute__((destructor)) static void late() { f(); }
#endif

// CHECK-DAG: @okl.constructors = private constant [3 x { i64, ptr }] [{{.*}}{ i64 200, ptr @_ZL5earlyv }
// CHECK-DAG: @okl.destructors = private constant [1 x { i64, ptr }] [{ i64, ptr } { i64 65535, ptr @_ZL4latev }]
// CHECK-DAG: @llvm.global_ctors = appending global [4 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 0, ptr @okl.register, ptr null }, {{.*}}{ i32 200, ptr @okl.on_one_rank{{[.0-9]*}}, ptr null }
// CHECK-DAG: @llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @okl.on_one_rank{{[.0-9]*}}, ptr null }]
// CHECK-NOT: define internal void @__cxx_global_var_init{{.*}} comdat
// CHECK:     define internal void @okl.register()
// CHECK-NEXT: call void @okl_mpi_register_v15(ptr @okl.module)
