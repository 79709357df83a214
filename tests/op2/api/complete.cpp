// Every C function that the headers declare is there.
//
// RUN: grep -ohE '\b(op_[a-z0-9_]+|deviceSync|compute_local_size|compare_sets|x[a-z]*alloc)\(' %op2-include/op_lib_c.h %op2-include/op_hdf5.h %op2-include/op_lib_mpi.h %op2-include/op_rt_support.h %op2-include/op_profile.h %op2-include/op_util.h | tr -d '(' | grep -v '^op_sort$' | sort -u > %t.declared
// RUN: grep -c . %t.declared | FileCheck --check-prefix=COUNT %s
// RUN: nm -D --defined-only %runtime-dir/libokl_op2.so | sed 's/.* //' | sort -u > %t.defined
// RUN: comm -23 %t.declared %t.defined | count 0
//
// COUNT: {{^(9[0-9]|1[0-9][0-9])$}}
