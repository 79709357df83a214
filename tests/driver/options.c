// The driver's own options, and what it says where something is missing.
//
// RUN: (%okl-cc --okl-fast -c %s; echo "ends with $?") 2>&1 | FileCheck --check-prefix=UNKNOWN --match-full-lines %s
// UNKNOWN: okl-cc: error: unknown option '--okl-fast'; there are: --okl-target=mpi|cpu|[mpi+]cuda|[mpi+]hip|[mpi+]spirv[,cpu], --okl-strict, --okl-fuse, --okl-jit, --okl-plugin=FILE, --okl-libdevice=FILE|FOLDER|none, --okl-explain[=FILE], --okl-schedules=FILE, --okl-tune=COMMAND, --okl-tune-build=COMMAND, --okl-tune-program=FILE, --okl-tune-measure=TEXT, --okl-tune-runs=N, --okl-tune-limit=SECONDS, --okl-tune-ignore-output, --okl-show, --okl-normalize, --okl-occa, --okl-version
// UNKNOWN-NEXT: ends with 1
// RUN: (%okl-c++ --okl-target=gpu -c %s; echo "ends with $?") 2>&1 | FileCheck --check-prefix=TARGET --match-full-lines %s
// TARGET: okl-c++: error: unknown target 'gpu' of --okl-target; valid are: mpi, cpu, cuda, hip, spirv, and what a plug-in that --okl-plugin names calls its own
// TARGET-NEXT: ends with 1
//
// RUN: %okl-cc --okl-show --okl-target=cpu --okl-strict -c '-DA="x y"' a.c | sed 's:%runtime-dir:LIB:g; s:-idirafter [^ ]*:-idirafter INCLUDE:g' | FileCheck --check-prefix=COMPILE --match-full-lines %s
// RUN: %okl-cc --okl-show --okl-target=cuda --okl-libdevice=/opt/cuda -c a.c | FileCheck --check-prefix=LIBDEVICE %s
// LIBDEVICE: -Xclang -mllvm -Xclang -okl-target=cuda -Xclang -mllvm -Xclang -okl-libdevice=/opt/cuda
// COMPILE: {{.*}}/clang-22 --start-no-unused-arguments -idirafter INCLUDE -idirafter INCLUDE -fpass-plugin=LIB/libokl_pass.so -Xclang -mllvm -Xclang -okl-target=cpu -Xclang -mllvm -Xclang -okl-strict --end-no-unused-arguments -c '-DA="x y"' a.c
// RUN: %okl-c++ --okl-show a.o -o a | sed 's:%runtime-dir:LIB:g; s:-idirafter [^ ]*:-idirafter INCLUDE:g' | FileCheck --check-prefix=LINK --match-full-lines %s
// LINK: {{.*}}/clang++-22 --start-no-unused-arguments -idirafter INCLUDE -idirafter INCLUDE -fpass-plugin=LIB/libokl_pass.so --end-no-unused-arguments a.o -o a --start-no-unused-arguments -Wl,--push-state,-Bdynamic,--as-needed,--library-path=LIB/okl-link,--library-path=LIB,--library-path={{.*}}/lib,--library=okl_mpi,--library=okl_op2,--library=okl_cpu,--library=okl_gpu,--library=omp,--pop-state,-rpath,LIB --end-no-unused-arguments
// RUN: OKL_CLANG=/usr/bin/clang-22 %okl-c++ --okl-show -fpass-plugin=%plugin -c a.cc | sed 's:-idirafter [^ ]*:-idirafter INCLUDE:g; s:%plugin:PLUGIN:' | FileCheck --check-prefix=OTHER --match-full-lines %s
// OTHER: /usr/bin/clang-22 --driver-mode=g++ --start-no-unused-arguments -idirafter INCLUDE -idirafter INCLUDE --end-no-unused-arguments -fpass-plugin=PLUGIN -c a.cc
// RUN: %okl-cc --okl-version | FileCheck --check-prefix=VERSION %s
// VERSION: okl-cc {{[0-9.]+}} (clang 22)
// VERSION-NEXT: compiler: {{.*}}clang-22
// VERSION-NEXT: plugin: {{.*}}/libokl_pass.so
// VERSION-NEXT: libraries: /{{.*}}
//
// RUN: (OKL_CLANG=no-clang %okl-cc -c %s; echo "ends with $?") 2>&1 | FileCheck --check-prefix=NAMED --match-full-lines %s
// NAMED: okl-cc: error: OKL_CLANG=no-clang: there is no such program
// NAMED-NEXT: ends with 1
// RUN: mkdir -p %t.bin && cp %okl-cc %t.bin/okl-cc && (%t.bin/okl-cc -c %s; echo "ends with $?") 2>&1 | FileCheck --check-prefix=ALONE --match-full-lines %s
// ALONE: okl-cc: error: libokl_pass.so, in {{.*}}/lib or {{.*}}t.bin, is missing: install okl again (./scripts/install --prefix DIR), or build it (cargo build --release)
// ALONE-NEXT: ends with 1
// RUN: cp %plugin %t.bin && (%t.bin/okl-cc a.o; echo "ends with $?") 2>&1 | FileCheck --check-prefix=RUNTIME --match-full-lines %s
// RUNTIME: okl-cc: error: {{.*}}/t.bin/libokl_mpi.so is missing: install okl again (./scripts/install --prefix DIR), or build it (cargo build --release)
// RUNTIME-NEXT: ends with 1
// RUN: cp %runtime-dir/libokl_mpi.so %t.bin && (%t.bin/okl-cc a.o; echo "ends with $?") 2>&1 | FileCheck --check-prefix=LINKED --match-full-lines %s
// LINKED: okl-cc: error: {{.*}}/t.bin/okl-link/libokl_mpi.so is missing: install okl again (./scripts/install --prefix DIR), or build it (cargo build --release)
//
// What programs are linked with has the functions that they may call, and no others.
// RUN: nm -D --defined-only %runtime-dir/okl-link/libokl_mpi.so | awk '{ print $2, $3 }' | LC_ALL=C sort >%t.linked
// RUN: nm -D --defined-only %runtime-dir/libokl_mpi.so | awk '$3 ~ /^okl_/ { print $2, $3 }' | LC_ALL=C sort | diff - %t.linked
// RUN: nm -D --defined-only %runtime-dir/okl-link/libokl_gpu.so | awk '{ print $2, $3 }' | LC_ALL=C sort >%t.linked
// RUN: nm -D --defined-only %runtime-dir/libokl_gpu.so | awk '$3 ~ /^okl_/ { print $2, $3 }' | LC_ALL=C sort | diff - %t.linked
