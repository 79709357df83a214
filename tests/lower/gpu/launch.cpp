// A loop over blocks goes to a device: its code is in the object, and in front of the loop stands its launch. The processor
// runs it where that is named, too, and there is no device; otherwise nothing of the loop is left.
//
// RUN: for level in "-O0 -g" -O2; do clang++-22 -std=c++17 $level -fpass-plugin=%plugin -mllvm -okl-target=cuda -S -emit-llvm %s -o - | FileCheck --check-prefixes=CHECK,ALONE %s || exit 1; done
// RUN: clang++-22 -std=c++17 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck --check-prefixes=CHECK,BOTH %s
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cuda>' -S %t.bc -o - | FileCheck --check-prefix=PLAIN %s
// RUN: OKL_TARGET=cuda opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.bc 2>&1 | FileCheck --check-prefix=ONLY %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes='print<okl-plan>' -disable-output %t.bc 2>&1 | FileCheck --check-prefix=EITHER %s
// RUN: clang++-22 -std=c++17 -O2 -fpass-plugin=%plugin -mllvm -okl-target=cuda -Rpass=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD %s
// What was lowered once is left alone.
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cuda>,okl-lower<cuda>,default<O1>' -S %t.bc -o - | grep -c 'call i32 @okl_gpu_launch_v6' | FileCheck --check-prefix=ONCE %s
// ONCE: {{^1$}}

// ONLY:   @outer loop at {{.*}}launch.cpp:[[# @LINE + 21]]: on a CUDA device{{$}}
// EITHER: @outer loop at {{.*}}launch.cpp:[[# @LINE + 20]]: on a CUDA device, or else on the processor{{$}}
// TOLD:   launch.cpp:[[# @LINE + 19]]:{{.*}}: remark: the blocks of this @outer loop run on a device, where there is one [-Rpass=okl]

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]

// CHECK-DAG: @okl.device.code = private unnamed_addr constant {{.*}}.entry okl__Z5saxpyifPKfPf_0({{.*}}\00", section ".okl.device.sm_70", align 16
// CHECK-DAG: @okl.device.images = private constant [1 x { i64, ptr, ptr, i64, i64 }] [{ i64, ptr, ptr, i64, i64 } { i64 1, ptr @[[SM:.*]], ptr @okl.device.code, i64 {{[0-9]+}}, i64 6 }], align 8
// CHECK-DAG: @[[SM]] = private unnamed_addr constant [6 x i8] c"sm_70\00"
// A value, a value, an address of what is read, one of what is read and written.
// CHECK-DAG: @okl.device.parameters = private constant [4 x { i64, i64 }] [{ i64, i64 } { i64 0, i64 4 }, { i64, i64 } { i64 0, i64 4 }, { i64, i64 } { i64 3, i64 8 }, { i64, i64 } { i64 7, i64 8 }], align 8
// CHECK-DAG: @okl.device.kernel = internal global { ptr, ptr, ptr, ptr, i64, ptr, i64, i64, i64, i64, ptr, i64, ptr, i64 } { ptr @[[NAME:.*]], ptr @[[PLACE:.*]], ptr @[[ENTRY:.*]], ptr @okl.device.images, i64 1, ptr @okl.device.parameters, i64 4, i64 256, i64 0, i64 0, ptr null, i64 0, ptr null, i64 0 }, align 8
// CHECK-DAG: @[[NAME]] = private unnamed_addr constant {{.*}} c"saxpy{{.*}}\00"
// CHECK-DAG: @[[PLACE]] = private unnamed_addr constant {{.*}}launch.cpp:[[# @LINE + 6]]\00"
// CHECK-DAG: @[[ENTRY]] = private unnamed_addr constant {{.*}} c"okl__Z5saxpyifPKfPf_0\00"

// CHECK-LABEL: define{{.*}} void @_Z5saxpyifPKfPf(
KERNEL void saxpy(int n, float a, const float *__restrict x, float *__restrict y) {
  // ALONE-NOT: fadd
  for (OUTER int o = 0; o < n; o += 256)
    for (INNER int i = o; i < o + 256; ++i)
      if (i < n) y[i] += a * x[i];
  // ALONE:     call i32 @okl_gpu_launch_v6(ptr {{(nonnull )?}}@okl.device.kernel, ptr {{.*}}, ptr {{.*}}, ptr {{.*}}, i32 0)
  // ALONE-NOT: {{= f(add|mul)|call.*(fmul|annotation|fork_call|__okl)}}
  // BOTH:      %[[RAN:.*]] = call i32 @okl_gpu_launch_v6(ptr nonnull @okl.device.kernel, ptr nonnull %{{.*}}, ptr nonnull %{{.*}}, ptr nonnull %{{.*}}, i32 1)
  // BOTH-NEXT: %[[HERE:.*]] = icmp eq i32 %[[RAN]], 0
  // BOTH-NEXT: br i1 %[[HERE]], label
  // BOTH:      __kmpc_fork_call
  // PLAIN-LABEL: define{{.*}} void @_Z5saxpyifPKfPf(
  // PLAIN:       %[[BLOCKS:.*]] = alloca [3 x i64], align 8
  // PLAIN:       %[[ITEMS:.*]] = alloca [3 x i64], align 8
  // PLAIN:       %[[ARGUMENTS:.*]] = alloca [4 x ptr], align 8
  // PLAIN:       %[[COUNT:.*]] = select i1
  // PLAIN:       %[[SOME:.*]] = icmp sgt i64 %[[COUNT]], 0
  // PLAIN-NEXT:  br i1 %[[SOME]], label %[[LAUNCHES:.*]], label %[[END:.*]]
  // PLAIN:       [[LAUNCHES]]:
  // PLAIN-NEXT:    store i64 %[[COUNT]], ptr %[[BLOCKS]]
  // PLAIN:         store i64 256, ptr %[[ITEMS]]
  // PLAIN:         call i32 @okl_gpu_launch_v6(ptr @okl.device.kernel, ptr %[[BLOCKS]], ptr %[[ITEMS]], ptr %[[ARGUMENTS]], i32 0)
  // PLAIN-NEXT:    br label %[[END]]
}
