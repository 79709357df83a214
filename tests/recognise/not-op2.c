// A program that is not OP2's may have functions with names of OP2's: there is no run time that could be told where they are
// called.
//
// RUN: clang-22 -O1 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --implicit-check-not=okl_op2 %s
// RUN: clang++-22 -x c++ -O1 -DIS_OP2 -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=OP2 %s
//
// CHECK: call {{.*}}@op_init
// CHECK: call {{.*}}@op_exit
// OP2:      call void @okl_op2_at({{.*}}@okl.place
// OP2-NEXT: call {{.*}}@op_init
// OP2-NEXT: call void @okl_op2_at(ptr null)
// OP2-NEXT: call void @okl_op2_at({{.*}}@okl.place
// OP2-NEXT: call {{.*}}@op_exit
#ifdef IS_OP2
#include "op_seq.h"
#else
void op_init(int, char **, int);
void op_exit(void);
#endif
int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_exit();
  return 0;
}
