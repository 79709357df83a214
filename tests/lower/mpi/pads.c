// Every module brings the pads around the shared sections; the linker keeps one set and the right
// order, whichever linker.
// RUN: clang-22 -O1 -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.1.o
// RUN: clang-22 -O1 -DSECOND -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.2.o
// RUN: clang-22 -shared -Wl,--allow-shlib-undefined %t.1.o %t.2.o -o %t.gnu.so
// RUN: clang-22 -shared -fuse-ld=lld %t.1.o %t.2.o -o %t.lld.so
// RUN: nm -n %t.gnu.so | FileCheck %s
// RUN: nm -n %t.lld.so | FileCheck %s
// RUN: readelf -SW %t.gnu.so | FileCheck --check-prefix=SECTIONS %s
// RUN: readelf -SW %t.lld.so | FileCheck --check-prefix=SECTIONS %s

// CHECK-DAG: {{[dD]}} okl.pad.data{{$}}
// CHECK-DAG: {{[dD]}} first{{$}}
// CHECK-DAG: {{[dD]}} second{{$}}
// CHECK:     okl.pad.data_end{{$}}
// CHECK-DAG: okl.pad.bss{{$}}
// CHECK-DAG: first_zero{{$}}
// CHECK-DAG: second_zero{{$}}
// CHECK:     okl.pad.bss_end{{$}}

// SECTIONS: okl_data {{ *}}PROGBITS
// SECTIONS: okl_data_end {{ *}}PROGBITS
// SECTIONS: .llvm.linkonce.b.okl {{ *}}NOBITS
// SECTIONS: .llvm.linkonce.b.okl_end {{ *}}NOBITS
#ifdef SECOND
int second = 2, second_zero;
#else
int first = 1, first_zero;
#endif
