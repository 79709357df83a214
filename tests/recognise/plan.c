// Where regions go: as the user has it, and what keeps them from going there.
// RUN: clang-22 -O0 -fopenmp -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: env OKL_TARGET=mpi opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: env OKL_TARGET=cpu opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=CPU %s
// RUN: env OKL_TARGET=gpu not opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=UNKNOWN %s

#include <stdlib.h>

int a[100];
void __kmpc_new_construct(void *);

// CHECK:      {{^}}parallel region at {{.*}}plan.c:[[# @LINE + 3]]: shared by the ranks of an MPI job, on the processor{{$}}
// CPU:        {{^}}parallel region at {{.*}}plan.c:[[# @LINE + 2]]: on the processor{{$}}
void shared(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = i;
}

// CHECK-NEXT: {{^}}parallel region at {{.*}}plan.c:[[# @LINE + 3]]: shared by the ranks of an MPI job, on the processor, on rank 0 alone: it calls rand, which keeps state in the C library ({{.*}}plan.c:[[# @LINE + 4]]){{$}}
// CPU-NEXT:   {{^}}parallel region at {{.*}}plan.c:[[# @LINE + 2]]: on the processor{{$}}
void alone(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = rand();
}

// CHECK-NEXT: {{^}}refused at {{.*}}plan.c:[[# @LINE + 2]]: __kmpc_new_construct is not supported on MPI ranks{{$}}
// CPU-NOT:    refused
void refused(void) { __kmpc_new_construct(a); }

// UNKNOWN: okl: unknown target 'gpu' in OKL_TARGET; valid are: mpi, cpu
