// Mathematical functions on a device: NVIDIA's own, of a CUDA toolkit that an option, or a variable, names.
//
// REQUIRES: libdevice
// RUN: for level in -O0 -O2; do %okl-c++ $level --okl-target=cuda --okl-libdevice=%libdevice %S/math-on-devices.okl -o %t && OKL_PTX_MACHINE=races=0 OKL_BACKEND=cuda-emulated %t || exit 1; done | FileCheck %s
// CHECK: right
// CHECK-NEXT: right
//
// RUN: export CUDA_HOME=$(dirname %libdevice)/../..; for library in "" none; do OKL_LIBDEVICE=$library %okl-c++ -O2 --okl-target=cuda -c %S/math-on-devices.okl -o %t.o && (strings %t.o | grep -c '__cudart_' || true); done | FileCheck --check-prefix=WHOSE --match-full-lines %s
// WHOSE: {{[1-9][0-9]*}}
// WHOSE-NEXT: 0
//
// RUN: (OKL_LIBDEVICE=%t.none %okl-c++ -O2 --okl-target=cuda -c %S/math-on-devices.okl -o %t.o 2>&1; echo "ends with $?") | FileCheck --check-prefix=WRONG %s
// WRONG: math-on-devices.okl:{{[0-9]+}}:{{[0-9]+}}: error: this cannot run on a device: OKL_LIBDEVICE={{.*}}.none: neither that nor nvvm/libdevice/libdevice.10.bc in it is a file
// WRONG: ends with 1
