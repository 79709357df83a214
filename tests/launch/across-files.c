// What functions of other files access is found out when the program starts: the statistics say which code is tracked even
// so. Of a solver none is, with one thread for each rank and with two.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %S/../run/multifile/solver/*.c -lm -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: for threads in 1 2; do env OKL_STATS=1 OKL_RANKS_PER_NODE=1 OMP_NUM_THREADS=$threads mpirun --allow-run-as-root --oversubscribe -n 2 %t; done 2>&1 | FileCheck %s --check-prefix=SOLVER
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %S/../run/multifile/summaries/*.c -lm -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.each
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t.each 2>&1 | FileCheck %s --check-prefix=EACH
//
// A declaration for each nest of kernels.c, of each thread.
// SOLVER-NOT: pages are tracked while this runs
// SOLVER: declarations 60 60
// SOLVER-NOT: pages are tracked while this runs
// SOLVER: declarations 120 120
// SOLVER-NOT: pages are tracked while this runs
//
// EACH: pages are tracked while this runs
// EACH-NEXT: it calls sum_list, of which it is not known what it accesses
// EACH-NEXT: it calls made, of which it is not known what it accesses
// EACH-NEXT: it calls scale, which accesses what a pointer leads to that it is given
// EACH-NEXT: it calls add_critical, of which it is not known what it accesses
// EACH-NEXT: it calls add_atomic, of which it is not known what it accesses
// EACH-NEXT: it calls scale, which accesses what a pointer leads to that it is given
// EACH-NEXT: it calls turn, which accesses what a pointer leads to that it is given
// EACH-NEXT: it calls large_at, of which it is not known what it accesses
// EACH-NEXT: it calls change_large, of which it is not known what it accesses
// EACH-NEXT: it calls through_remembered, of which it is not known what it accesses
// EACH-NEXT: it calls poke, of which it is not known what it accesses
// EACH-NEXT: it calls store_all, of which it is not known what it accesses
// EACH-NEXT: it calls put, which accesses what a pointer leads to that it is given
// EACH-NEXT: it calls apply, of which it is not known what it accesses
// EACH-NEXT: it calls shape, of which it is not known what it accesses
// EACH-NEXT: it calls deep, of which it is not known what it accesses
// EACH-NOT: it calls
