// The user's main becomes okl.main and keeps its debug information; recursion keeps working.
// RUN: clang-22 -O0 -g -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang-22 -O2 -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o

// CHECK:       define internal i32 @okl.main(i32 {{.*}}, ptr {{.*}}) {{.*}}!dbg ![[MAIN:[0-9]+]]
// CHECK:         call i32 @okl.main(
// CHECK-LABEL: define internal i32 @okl.start(i32 %0, ptr %1, ptr %2)
// CHECK-NEXT:    %[[STATUS:.*]] = call i32 @okl_mpi_main(ptr @okl.main, i32 %0, ptr %1, ptr %2)
// CHECK-NEXT:    ret i32 %[[STATUS]]
// CHECK-LABEL: define dso_local i32 @main(i32 %0, ptr %1, ptr %2)
// CHECK-NEXT:    %[[FLAG:.*]] = load i8, ptr @okl.plain
// CHECK-NEXT:    %[[PLAIN:.*]] = icmp ne i8 %[[FLAG]], 0
// CHECK-NEXT:    br i1 %[[PLAIN]], label %
// CHECK:         call i32 @okl.main(i32 {{.*}}%0, ptr {{.*}}%1)
// CHECK:         musttail call i32 @okl.start(i32 %0, ptr %1, ptr %2)
// CHECK:       ![[MAIN]] = distinct !DISubprogram(name: "main"
int main(int argc, char **argv) { return argc > 1 ? main(argc - 1, argv) : 0; }
