// Ranks have their parts of OpenMP loops run behind a driver that is called as AMD's is, with what they give on threads. The
// driver has the machine that executes PTX run the kernels (hip_on_ptx.c).
//
// RUN: mkdir -p %t.driver && clang-22 -shared -fPIC -O1 %S/hip_on_ptx.c -o %t.driver/libamdhip64.so
// RUN: %okl-cc -O2 -w -fopenmp --okl-target=mpi+hip,cuda,cpu %S/openmp-on-devices-of-ranks.c -o %t -lm && OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads
// RUN: export OKL_STATS=1 OKL_BACKEND=hip HIP_ON_PTX=%runtime-dir/libokl_ptx_machine.so LD_LIBRARY_PATH=%t.driver:$LD_LIBRARY_PATH; \
// RUN:   mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.ranks 2> %t.table && cmp %t.threads %t.ranks
// RUN: FileCheck %s < %t.table
// CHECK: okl: kernels on {{.*}}, rank 0
// CHECK: jacobi 20
// CHECK: okl: kernels on {{.*}}, rank 1
// CHECK: jacobi 20
