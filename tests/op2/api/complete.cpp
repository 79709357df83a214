// Every C function that the headers declare is there.
//
// RUN: grep -ohE '\b(op_[a-z0-9_]+|deviceSync)\(' %op2-include/op_lib_c.h %op2-include/op_hdf5.h %op2-include/op_lib_mpi.h %op2-include/op_rt_support.h %op2-include/op_profile.h | tr -d '(' | sort -u > %t.declared
// RUN: grep -c . %t.declared | FileCheck --check-prefix=COUNT %s
// RUN: nm -D --defined-only %runtime-dir/libokl_op2.so | sed 's/.* //' | sort -u > %t.defined
// RUN: comm -23 %t.declared %t.defined | count 0
//
// COUNT: {{^[6-9][0-9]$}}
