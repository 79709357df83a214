// Programs of OKL kernels give on the devices of ranks what they give on the processor, and each rank launches kernels: reductions,
// scans, stencils, sparse matrices, blocks of two directions, and loops whose ends are computed. The device is emulated: the PTX
// of the object is executed, and checked.
//
// RUN: for one in reductions stencils sparse; do \
// RUN:   %okl-c++ -O2 -g -w --okl-target=mpi+cuda,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && for ranks in 2 4; do \
// RUN:   OKL_STATS=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $ranks %t > %t.device 2> %t.table && \
// RUN:   cmp %t.processor %t.device && test $(grep -c "^okl: kernels on okl PTX machine sm_90, rank" %t.table) = $ranks || exit 1; done || exit 1; done
// RUN: for one in scans matrices structure counted; do \
// RUN:   %okl-c++ -O0 -w --okl-target=mpi+cuda,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_STATS=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 3 %t > %t.device 2> %t.table && \
// RUN:   cmp %t.processor %t.device && test $(grep -c "^okl: kernels on okl PTX machine sm_90, rank" %t.table) = 3 || exit 1; done
//
// What is updated atomically ranks do on their processors.
// RUN: not %okl-c++ -O2 -g --okl-target=mpi+cuda %S/../okl/histograms.okl -o %t 2>&1 | FileCheck %s
// RUN: %okl-c++ -O2 -g --okl-target=mpi+cuda,cpu %S/../okl/histograms.okl -c -o %t.o 2>&1 | FileCheck --check-prefix=BOTH %s
// CHECK: error: this cannot run on a device: it updates memory atomically, which ranks do together
// BOTH: warning: {{.*}}this cannot run on a device, so the processor runs it: it updates memory atomically, which ranks do together
