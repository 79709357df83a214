! A common block with several lengths: with the longest first, it has room for all; with another first, the variable
! behind it would be overwritten, which is noticed when the program starts.
! REQUIRES: flang
! RUN: split-file %s %t.d
! RUN: cd %t.d && %okl-fc -O1 -fopenmp long.f90 short.f90 -o right && %launch -n 2 ./right | FileCheck %s
! CHECK: 356 200
! RUN: cd %t.d && %okl-fc -O1 -fopenmp short.f90 long.f90 -o wrong && (%launch -n 2 ./wrong 2>&1 || true) | FileCheck --check-prefix=SHORT %s
! SHORT: okl: rank {{[01]}}: common block aa has 160 bytes in the file of the main program and 16 in the file of first, and the linker took the first length that it met: give it the same length in every file, or name the file with the longest first when linking
! SHORT-NOT: 356

!--- short.f90
subroutine first
  integer :: n(4), g(40)
  common /aa/ n
  common /bb/ g
  n = 1
  g = 5
end subroutine

!--- long.f90
program main
  integer :: n(40), g(40)
  common /aa/ n
  common /bb/ g
  n = 2
  call first
  !$omp parallel do
  do i = 1, 40
    n(i) = n(i) + 7
  end do
  print *, sum(n), sum(g)
end program
