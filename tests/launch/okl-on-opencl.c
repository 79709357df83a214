// Programs of OKL kernels give on an OpenCL device what they give on the processor; each has kernels that ran there. The device
// is PoCL's, which runs on this processor; what it takes in place of SPIR-V, a layer has made of that: spirv_layer.c.
//
// REQUIRES: llvm-spirv-15 libOpenCL libpocl
// RUN: mkdir -p %t.cache && clang-22 -shared -fPIC -O1 %S/spirv_layer.c -o %t.layer
// RUN: export OPENCL_LAYERS=%t.layer POCL_CACHE_DIR=%t.cache; for one in reductions scans stencils sparse spectral matrices unroll simulations; do \
// RUN:   %okl-c++ -O2 -g -w --okl-target=spirv,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_BACKEND=spirv OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on pthread" %t.table || exit 1; done
// RUN: export OPENCL_LAYERS=%t.layer POCL_CACHE_DIR=%t.cache; for one in histograms tiles waves vectors dimensions structure; do \
// RUN:   %okl-c++ -O0 -w --okl-target=cuda,hip,spirv,cpu %S/../okl/$one.okl -o %t && OKL_BACKEND=cpu %t > %t.processor && \
// RUN:   OKL_BACKEND=spirv OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on pthread" %t.table || exit 1; done
// RUN: export OPENCL_LAYERS=%t.layer POCL_CACHE_DIR=%t.cache; for one in okl/counted okl/functions lower/gpu/counts lower/gpu/lock lower/gpu/globals; do \
// RUN:   %okl-c++ -O2 -w --okl-target=spirv,cpu %S/../$one.okl -o %t.more && OKL_BACKEND=cpu %t.more > %t.processor && \
// RUN:   OKL_BACKEND=spirv OKL_STATS=1 %t.more > %t.device 2> %t.table && cmp %t.processor %t.device && \
// RUN:   grep -q "^okl: kernels on pthread" %t.table || exit 1; done
//
// Without the layer the device takes no SPIR-V, without a driver there is none, and code for others is none for it.
// RUN: (OKL_BACKEND=spirv %t 2>&1; OCL_ICD_VENDORS=/nowhere OKL_BACKEND=spirv %t 2>&1 || true) | FileCheck %s
// CHECK: okl: {{.*}}structure.okl:{{[0-9]+}}: kernel {{.*}}: there is no OpenCL device (clGetPlatformIDs: there are devices, but none that takes SPIR-V and has shared virtual memory): install an OpenCL driver that takes SPIR-V, and a loader such as ocl-icd-libopencl1
// CHECK-NEXT: okl: {{.*}}structure.okl:{{[0-9]+}}: kernel {{.*}}: there is no OpenCL device (clGetPlatformIDs: CL_PLATFORM_NOT_FOUND_KHR, no OpenCL driver is installed): install an OpenCL driver that takes SPIR-V, and a loader such as ocl-icd-libopencl1
