// Programs of OKL kernels give on a device what they give on the processor; each has kernels that ran there. The device is
// emulated: the PTX of the object is executed, and checked.
//
// RUN: for one in reductions scans stencils sparse spectral matrices; do \
// RUN:   %okl-c++ -O2 -g -w --okl-target=cuda,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on okl PTX machine" %t.table || exit 1; done
// RUN: for one in counted functions; do \
// RUN:   %okl-c++ -O2 -w --okl-target=cuda,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on okl PTX machine" %t.table || exit 1; done
// RUN: for one in histograms tiles waves vectors dimensions structure; do \
// RUN:   %okl-c++ -O0 -w --okl-target=cuda,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on okl PTX machine" %t.table || exit 1; done
