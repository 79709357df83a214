// Ranks have their parts of OpenMP loops run on an OpenCL device each, with what they give on threads. The driver is PoCL's, behind
// a layer that makes of SPIR-V what it takes (spirv_layer.c): it writes files where a rank calls it, which are that rank's.
//
// REQUIRES: llvm-spirv-15 libOpenCL libpocl
// RUN: clang-22 -shared -fPIC -O1 %S/spirv_layer.c -o %t.layer.so && mkdir -p %t.cache
// RUN: %okl-cc -O2 -w -fopenmp --okl-target=mpi+spirv,cpu %S/openmp-on-devices-of-ranks.c -o %t -lm && OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads
// RUN: export OKL_STATS=1 OKL_BACKEND=spirv OPENCL_LAYERS=%t.layer.so POCL_CACHE_DIR=%t.cache POCL_DEVICES=basic; \
// RUN:   mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.ranks 2> %t.table && cmp %t.threads %t.ranks
// RUN: FileCheck %s < %t.table
// CHECK: okl: kernels on {{.*}}, rank 0
// CHECK: jacobi 20
// CHECK: okl: kernels on {{.*}}, rank 1
// CHECK: jacobi 20
