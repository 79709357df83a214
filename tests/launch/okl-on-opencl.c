// Where OKL kernels are to run on an OpenCL device and there is none that can: without a layer that makes of SPIR-V what it
// takes PoCL's takes none, and without a driver there is none. What kernels give there tests/devices.txt compares.
//
// REQUIRES: libOpenCL libpocl
// RUN: %okl-c++ -O0 -w --okl-target=spirv,cpu %S/../okl/structure.okl -o %t
// RUN: (OKL_BACKEND=spirv %t 2>&1; OCL_ICD_VENDORS=/nowhere OKL_BACKEND=spirv %t 2>&1 || true) | FileCheck %s
// CHECK: okl: {{.*}}structure.okl:{{[0-9]+}}: kernel {{.*}}: there is no OpenCL device (clGetPlatformIDs: there are devices, but none that takes SPIR-V and has shared virtual memory): install an OpenCL driver that takes SPIR-V, and a loader such as ocl-icd-libopencl1
// CHECK-NEXT: okl: {{.*}}structure.okl:{{[0-9]+}}: kernel {{.*}}: there is no OpenCL device (clGetPlatformIDs: CL_PLATFORM_NOT_FOUND_KHR, no OpenCL driver is installed): install an OpenCL driver that takes SPIR-V, and a loader such as ocl-icd-libopencl1
