// `okl-run`: the launcher's command, and what it ends with.
//
// RUN: okl() { env -u OMP_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 %okl-run "$@"; } && \
// RUN:   (okl -n 1 --okl-show ./prog -n 3 && okl -n 1000 --okl-show ./prog && okl -n 2 -H a,b --okl-show ./prog && okl -n 1 --mca btl tcp,self --bind-to none --okl-show ./prog 'a b' && SLURM_JOB_ID=1 okl --okl-show ./prog) | FileCheck --check-prefix=SHOW --match-full-lines %s
// SHOW: {{.*}}/mpirun.openmpi -n 1 --map-by slot:PE=1 --mca pml ob1 --mca btl vader,self ./prog -n 3
// SHOW-NEXT: {{.*}}/mpirun.openmpi -n 1000 --oversubscribe --bind-to none --mca pml ob1 --mca btl vader,self ./prog
// SHOW-NEXT: {{.*}}/mpirun.openmpi -n 2 --map-by slot:PE=1 -H a,b ./prog
// SHOW-NEXT: {{.*}}/mpirun.openmpi -n 1 --mca btl tcp,self --bind-to none ./prog 'a b'
// SHOW-NEXT: OMP_NUM_THREADS={{[0-9]+}} {{.*}}/mpirun.openmpi --map-by ppr:1:node --bind-to none ./prog
// Another object through which programs call MPI is the launcher's to hand on.
// RUN: cp %runtime-dir/libokl_job_mpi.so %t.so && cd $(dirname %t) && env -u OMP_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OKL_MPI=$(basename %t).so %okl-run -n 1 --okl-show ./prog | FileCheck --check-prefix=OBJECT --match-full-lines %s
// OBJECT: OKL_MPI=/{{.*}}.so {{.*}}/mpirun.openmpi -n 1 -x OKL_MPI --map-by slot:PE=1 --mca pml ob1 --mca btl vader,self ./prog
// RUN: (OKL_MPI=%t.none.so %okl-run -n 1 ./prog; echo "ends with $?") 2>&1 | FileCheck --check-prefix=LACKS --match-full-lines %s
// LACKS: okl-run: error: {{.*}}.none.so: No such file or directory (os error 2); install okl again, or name an object that is built for your MPI with OKL_MPI=FILE
// LACKS-NEXT: ends with 1
// RUN: (%okl-run -n 2; echo "ends with $?") 2>&1 | FileCheck --check-prefix=NONE --match-full-lines %s
// NONE: okl-run: error: no program to run; `okl-run --help` tells how
// NONE-NEXT: ends with 1
//
// RUN: split-file %s %t.d && cd %t.d && %okl-cc -O1 -fopenmp sum.c main.c -o prog && %okl-run -n 3 ./prog | FileCheck %s
// CHECK: 3 threads, sum 5050
// A program that was compiled without -fopenmp.
// RUN: cd %t.d && %okl-cc sum.c main.c -o alone 2>/dev/null && %okl-run -n 2 ./alone 2>&1 | FileCheck --check-prefix=ALONE --match-full-lines %s
// ALONE: okl-run: warning: ./alone is linked with no run-time library of okl: every rank runs all of it
// ALONE-COUNT-2: 1 threads, sum 5050
// RUN: (%okl-run -n 1 sh -c 'exit 7'; echo "ends with $?") 2>&1 | FileCheck --check-prefix=CODE %s
// CODE: ends with 7

//--- sum.c
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_num_threads(void) { return 1; }
#endif

int sum(int n, int *threads) {
  int total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 1; i <= n; i++) {
    total += i;
    if (i == n) *threads = omp_get_num_threads();
  }
  return total;
}

//--- main.c
#include <stdio.h>

int sum(int n, int *threads);

int main(void) {
  int threads = 0;
  int total = sum(100, &threads);
  printf("%d threads, sum %d\n", threads, total);
  return 0;
}
