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
! Loop chains: what is wrong with them is told at the user's lines, also in what is compiled then; a file without them is not rewritten.
! RUN: cd %t.d && printf 'subroutine s(a, n)\n  integer n, i\n  real a(n)\n!$OMPLC loopchain schedule(fuze())\n!$omplc for domain(1:n) &\n!$omplc& with(2)\n  do i = 1, n\n    a(i) = i\n  end do\n!$omplc end\n!$omplc for domain(1:n)\nend\n' >wrong.F90 && (not %okl-fc -c wrong.F90 2>&1) | FileCheck --check-prefix=WRONG %s
! WRONG: {{^}}wrong.F90:4:28: error: 'fuze' cannot stand here
! WRONG-NEXT: {{^}}wrong.F90:6:15: error: a name is missing in front of '2'
! WRONG-NEXT: {{^}}wrong.F90:10:9: error: 'loopchain', and nothing else, is missing behind '!$omplc end'
! WRONG-NEXT: {{^}}wrong.F90:11:9: error: '!$omplc for' is in no loop chain: '!$omplc loopchain schedule(...)' stands in front of its loops
! WRONG-NOT: error
! RUN: cd %t.d && printf '      subroutine s(a, n)\n      integer n, i\n      real a(n)\n#define FIRST 1\nc$omplc loopchain schedule(fuse())\nc$omplc for domain(FIRST:n)\nc$omplc& with(i) write a{(i)}\n      do 10 i = 1, n, 2\n 10   a(i) = i\nc$omplc end loopchain\n      a(1) = none(n)%%x\n      end\n' >fixed.F && (not %okl-fc -c fixed.F 2>&1) | FileCheck --check-prefix=FIXED %s && sed -i '/none/d' fixed.F && %okl-fc -O1 -c fixed.F 2>&1 | FileCheck --check-prefix=STEP %s
! FIXED: fixed.F:11:{{[0-9]+}}: error:
! STEP: warning: fixed.F:6: the loop chain stays as it is: this loop does not count up by 1
! RUN: cd %t.d && printf '      subroutine s(a, n)\n      integer n, i\n      real a(n)\n!$omplc loopchain schedule(fuse())\n!$omplc for domain(1:n)\n      do i = 1, n\n      if (a(i) > 3) exit\n      a(i) = i\n      end do\n!$omplc end loopchain\n      end\n' >exit.f && for level in 0 1; do %okl-fc -O$level -c exit.f 2>&1 || true; done | FileCheck --check-prefix=EXIT %s
! EXIT: warning: exit.f:5: the loop chain stays as it is: this loop is left by an `exit`, `return` or `go to`: all of its iterations have to run; `cycle` ends one of them
! EXIT: warning: exit.f:5: the loop chain stays as it is: this loop is left by an `exit`
! RUN: cd %t.d && printf '! $omplc loopchain\n!$omplcs for\nprint *, 1\nend\n' >none.f90 && %okl-fc --okl-show -c none.f90 | FileCheck --check-prefix=NONE %s && %okl-fc --okl-show -c wrong.F90 | FileCheck --check-prefix=SHOW %s
! NONE-NOT: stride
! NONE: -c none.f90
! SHOW: -fno-version-loops-for-stride -I. {{.*}}okl.tmp/0/wrong.F90
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
