! In Fortran, pointers and targets may have memory in common: chains that write one of two of them run as they are written.
!
! REQUIRES: flang
! RUN: %okl-fc -O2 -Rpass=okl %s -o %t 2>&1 | grep -E "remark|warning" | FileCheck %s
! RUN: flang -O2 %s -o %t.plain && %t.plain >%t.expected && %t | diff - %t.expected
! CHECK-NOT: runs as scheduled
! CHECK: pointers.f90:[[#@LINE+7]]{{.*}}the loop chain stays as it is: it is not known whether {{from and to|to and from}} have memory in common: they may be pointers or targets
! CHECK: pointers.f90:[[#@LINE+20]]{{.*}}the loop chain stays as it is: it is not known whether {{from and to|to and from}} have memory in common: they may be pointers or targets
module sweeps
contains
  subroutine pointers(from, to)
    real(8), pointer, intent(in) :: from(:), to(:)
    integer :: i
    !$omplc loopchain schedule(fuse())
    !$omplc for domain(1:18) with(i) read from{(i)}, write to{(i)}
    do i = 1, 18
      to(i) = from(i) * 2 + 1
    end do
    !$omplc for domain(1:18) with(i) read to{(i)}, write from{(i)}
    do i = 1, 18
      from(i) = to(i) + 3
    end do
    !$omplc end loopchain
  end subroutine
  subroutine targets(from, to)
    real(8), target, intent(inout) :: from(:), to(:)
    integer :: i
    !$omplc loopchain schedule(fuse())
    !$omplc for domain(1:18) with(i) read from{(i)}, write to{(i)}
    do i = 1, 18
      to(i) = from(i) * 2 + 1
    end do
    !$omplc for domain(1:18) with(i) read to{(i)}, write from{(i)}
    do i = 1, 18
      from(i) = to(i) + 3
    end do
    !$omplc end loopchain
  end subroutine
  ! Of others the language says that they have not.
  subroutine others(from, to)
    real(8), intent(inout) :: from(:), to(:)
    integer :: i
    ! CHECK: pointers.f90:[[#@LINE+1]]{{.*}}the loop chain runs as scheduled
    !$omplc loopchain schedule(fuse())
    !$omplc for domain(1:18) with(i) read from{(i)}, write to{(i)}
    do i = 1, 18
      to(i) = from(i) * 2 + 1
    end do
    !$omplc for domain(1:18) with(i) read to{(i)}, write from{(i)}
    do i = 1, 18
      from(i) = to(i) + 3
    end do
    !$omplc end loopchain
  end subroutine
end module

program main
  use sweeps
  implicit none
  real(8), target :: a(20), b(20)
  real(8), pointer :: low(:), high(:)
  integer :: i
  a = [(real(i, 8), i = 1, 20)]
  b = 0
  low => a(1:18)
  high => a(3:20)
  call pointers(low, high)
  call pointers(high, low)
  print *, a
  call targets(a(3:20), a(1:18))
  print *, a
  call others(a, b)
  print *, a, b
end program
