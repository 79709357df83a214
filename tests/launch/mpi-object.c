// MPI is loaded where there are ranks, through an object of its own: a program on one rank has none, and what is wrong with
// the object is told.
//
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: readelf -d %t %runtime-dir/libokl_mpi.so %runtime-dir/libokl_op2.so | FileCheck --check-prefix=NEEDED %s
// NEEDED-NOT: [libmpi
// RUN: readelf -d %runtime-dir/libokl_job_mpi.so | FileCheck --check-prefix=OBJECT %s
// OBJECT: {{.*}}(NEEDED){{.*}}[libmpi
// RUN: %t | FileCheck --check-prefix=ALONE %s
// RUN: env OKL_MPI=%t.none.so %t | FileCheck --check-prefix=ALONE %s
// ALONE: sum 4950, libmpi: 0, libokl_job_mpi: 0
// RUN: %launch -n 2 %t | FileCheck --check-prefix=RANKS %s
// RANKS: sum 4950, libmpi: 1, libokl_job_mpi: 1
// RUN: cp %runtime-dir/libokl_job_mpi.so %t.copy.so && %launch -n 2 env OKL_MPI=%t.copy.so %t | FileCheck --check-prefix=COPY %s
// COPY: sum 4950, libmpi: 1, libokl_job_mpi: 0
//
// RUN: (OKL_BACKEND=mpi OKL_MPI=%t.none.so %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=NONE %s
// NONE: okl: rank 0: ranks need MPI, which okl calls through [[FILE:.*\.none\.so]]: [[FILE]]: cannot open shared object file: No such file or directory; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// NONE-NEXT: ends with 70
// One rank tells what all of them find.
// RUN: (%launch -n 2 env OKL_MPI=%t.none.so %t; echo "ends with $?") 2>&1 | grep -e '^okl:' -e '^ends' | FileCheck --match-full-lines --check-prefix=NONE %s
// A file without a folder is one of the working directory; the library itself may be reached by a relative name.
// RUN: cd $(dirname %t) && OKL_BACKEND=mpi OKL_MPI=$(basename %t).copy.so %t | FileCheck --check-prefix=COPY %s
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_mpi -o %t.plain && cd %runtime-dir && env LD_LIBRARY_PATH=. OKL_BACKEND=mpi %t.plain | FileCheck --check-prefix=RANKS %s
// RUN: mkdir -p %t.d && cp %runtime-dir/libokl_mpi.so %t.d/ && (env LD_LIBRARY_PATH=%t.d OKL_BACKEND=mpi %t.plain; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=ALONE_LIBRARY %s
// ALONE_LIBRARY: okl: rank 0: ranks need MPI, which okl calls through {{.*}}.d/libokl_job_mpi.so: {{.*}}: cannot open shared object file: No such file or directory; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// ALONE_LIBRARY-NEXT: ends with 70
// RUN: env LD_LIBRARY_PATH=%t.d:%runtime-dir OKL_BACKEND=mpi %t.plain | FileCheck --check-prefix=RANKS %s
// RUN: clang-22 -shared -fPIC -x c /dev/null -o %t.old.so
// RUN: (OKL_BACKEND=mpi OKL_MPI=%t.old.so %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=OLD %s
// OLD: okl: rank 0: ranks need MPI, which okl calls through {{.*}}.old.so: it is not of this version of okl; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// OLD-NEXT: ends with 70
// A table of another version: its first word is another one.
// RUN: echo 'unsigned long okl_job_mpi[64] = {1};' | clang-22 -shared -fPIC -x c - -o %t.stale.so
// RUN: (OKL_BACKEND=mpi OKL_MPI=%t.stale.so %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=STALE %s
// STALE: okl: rank 0: ranks need MPI, which okl calls through {{.*}}.stale.so: it is not of this version of okl; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// STALE-NEXT: ends with 70
// RUN: clang-22 -O1 -fopenmp -DOTHER -rdynamic -fpass-plugin=%plugin %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.other
// RUN: (OKL_BACKEND=mpi %t.other; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=OTHER %s
// OTHER: okl: rank 0: ranks need MPI, which okl calls through {{.*}}/libokl_job_mpi.so: the program calls another MPI; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// OTHER-NEXT: ends with 70
//
// The launcher belongs to another MPI.
// RUN: (FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1 %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=LAUNCHER %s
// LAUNCHER: okl: rank 1: the launcher has started 2 ranks (FLUX_JOB_SIZE), and MPI has found 1: take the launcher of the MPI that okl is built for, or name an object that is built for this one with OKL_MPI=FILE
// LAUNCHER-NEXT: ends with 70
#include "is_loaded.h"

#ifdef OTHER
int PMPI_Init(int *count, char ***arguments) { return 0; }
#endif

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("sum %d, libmpi: %d, libokl_job_mpi: %d\n", sum, is_loaded("/libmpi"), is_loaded("/libokl_job_mpi"));
}
