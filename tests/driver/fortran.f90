! FC=okl-fc: module files where -J says, objects linked with those of C, what is asked for of okl.
!
! REQUIRES: flang
! RUN: mkdir -p %t.d/modules && cp %s %t.d/main.f90 && cd %t.d && echo 'int twice(int i) { return 2 * i; }' >twice.c
! RUN: cd %t.d && %okl-fc -cpp -O1 -fopenmp -J modules -c main.f90 && ls modules | FileCheck --check-prefix=MODULE %s
! MODULE: model.mod
! RUN: cd %t.d && %okl-cc -O1 -fopenmp -c twice.c && %okl-fc main.o twice.o -o linked && %launch -n 3 ./linked | FileCheck %s
! CHECK: 3 110
! RUN: cd %t.d && readelf -d linked | FileCheck --check-prefix=NEEDED %s
! NEEDED: [libokl_mpi.so]
! RUN: cd %t.d && %okl-fc --okl-target=cpu -cpp -O1 -fopenmp main.f90 twice.o -o threads && OMP_NUM_THREADS=2 ./threads | FileCheck --check-prefix=THREADS %s
! THREADS: 2 110
! RUN: cd %t.d && (not %okl-fc --okl-strict -O1 -fopenmp -DDRAW -cpp -c main.f90 2>&1) | FileCheck --check-prefix=STRICT %s
! STRICT: error: in the main program: parallel region runs on rank 0 alone: it calls a random number procedure
! RUN: cd %t.d && %okl-fc --okl-explain -cpp -O1 -fopenmp -c main.f90 2>&1 | FileCheck --check-prefix=EXPLAIN %s
! EXPLAIN: distributed over MPI ranks
! RUN: printf "include 'omp_lib.h'\nprint *, omp_get_num_procs() > 0\nend\n" >%t.d/included.f90 && %okl-fc -fopenmp %t.d/included.f90 -o %t.d/included && %t.d/included | FileCheck --check-prefix=INCLUDED %s
! INCLUDED: T
! RUN: cd %t.d && printf 'print *, 1\n  !$OMPLC loopchain schedule(auto)\n!$omplc for domain(1:n)\nend\n' >chain.F90 && %okl-fc -c chain.F90 2>&1 | FileCheck --check-prefix=CHAIN %s && %okl-fc chain.o twice.o -o chain 2>&1 | FileCheck --allow-empty --check-prefix=NOCHAIN %s
! CHAIN: {{^}}chain.F90:2:3: warning: loop chains are not known in Fortran yet: the loops run as they are written{{$}}
! CHAIN-NOT: warning
! NOCHAIN-NOT: warning
! RUN: %okl-fc --okl-version | FileCheck --check-prefix=VERSION %s
! VERSION: okl-fc {{.*}} (flang 22)
! VERSION: compiler: {{.*}}flang
module model
  implicit none
  integer :: total
  interface
    integer(4) function twice(i) bind(c)
      integer(4), value :: i
    end function
  end interface
end module

program main
  use model
  use omp_lib
  implicit none
  integer :: i, threads
  real :: x
  total = 0
  x = 0
  !$omp parallel
#ifdef DRAW
  call random_number(x)
#endif
  !$omp single
  threads = omp_get_num_threads()
  !$omp end single
  !$omp do reduction(+: total)
  do i = 1, 10
    total = total + twice(i)
  end do
  !$omp end parallel
  print '(i0,1x,i0)', threads, total
end program
