// What a function may hand to the kernel is brought in first: always for functions known to do so,
// never for those known not to, and unless the function is translated for unknown ones, in a function in
// front of them that is shared by all calls. In a loop one rank goes past that.
// RUN: clang-22 -O0 -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
#include <stdio.h>
#include <string.h>
#include <time.h>

void unknown(double *data, const char *text, void (*function)(void), int *null);
__attribute__((pure)) double pure(const double *data);
static void own(double *data) { data[0] = 1; }

// CHECK: @okl.translated.unknown = extern_weak global i8
// CHECK: @okl.translated.f = alias void (ptr), ptr @f
// CHECK-NOT: @okl.translated.own

// CHECK-LABEL: define dso_local void @f(
// CHECK-NOT:     okl_mpi_touch
// CHECK:         call i64 @strlen(
// CHECK-NOT:     okl_mpi_touch
// CHECK:         call i32 (ptr, ...) @printf(
// CHECK-NOT:     okl_mpi_touch
// CHECK:         call double @pure(
// CHECK-NOT:     okl_mpi_touch
// CHECK:         call void @own(
// CHECK-NOT:     okl_mpi_touch
// CHECK:         call void @okl_mpi_touch(ptr %[[TIME:.*]])
// CHECK-NEXT:    call i32 @clock_gettime(i32 noundef 0, ptr noundef %[[TIME]])
// CHECK:         call void @[[UNKNOWN:okl.touching.unknown.[0-9a-f]+]](ptr noundef %{{.*}}, ptr noundef @.str{{.*}}, ptr noundef {{.*}}, ptr noundef null)
// CHECK:         %[[FLAG:.*]] = load i8, ptr @okl.plain, align 1, !invariant.load
// CHECK-NEXT:    %[[PLAIN:.*]] = icmp ne i8 %[[FLAG]], 0
// CHECK-NEXT:    %[[EITHER:.*]] = select i1 %[[PLAIN]], ptr @unknown, ptr @[[UNKNOWN]]
// CHECK-NEXT:    call void %[[EITHER]](
// Other values than the fixed ones are not handed on.
// CHECK:         icmp eq ptr @okl.translated.many, null
// CHECK:         call void @okl_mpi_touch(
// CHECK:         call void (i32, ...) @many(
void many(int n, ...);
void f(double *data) {
  struct timespec now;
  printf("%zu\n", strlen((char *)data));
  data[1] = pure(data);
  own(data);
  clock_gettime(CLOCK_REALTIME, &now);
  unknown(data, "text", (void (*)(void))own, NULL);
  for (int i = 0; i < 10; i++) unknown(data + i, "text", (void (*)(void))own, NULL);
  many(1, data);
}

// Names that only begin like ours are the program's.
// CHECK-LABEL: define dso_local void @g(
// CHECK:         call void @okl.touching.oklab_print.{{[0-9a-f]+}}(ptr noundef @oklab)
extern double oklab[3];
void oklab_print(double *colour);
void g(void) { oklab_print(oklab); }

// CHECK:       define linkonce_odr hidden void @[[UNKNOWN]](ptr %0, ptr %1, ptr %2, ptr %3)
// CHECK:         %[[MISSING:.*]] = icmp eq ptr @okl.translated.unknown, null
// CHECK-NEXT:    br i1 %[[MISSING]], label %[[TOUCH:.*]], label %[[CALL:.*]]
// CHECK:       [[TOUCH]]:
// CHECK-NEXT:    call void @okl_mpi_touch(ptr %0)
// CHECK:         br label %[[CALL]]
// CHECK:       [[CALL]]:
// CHECK-NEXT:    musttail call void @unknown(ptr %0, ptr %1, ptr %2, ptr %3)
