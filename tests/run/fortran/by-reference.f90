! A subroutine changes a variable of the module that it is handed: in the loop that calls it the variable is not what it was
! in front of the loop.
module counting
  implicit none
  integer :: k = 0
  real(8) :: a(5000), b(5000)
contains
  ! It is not inlined.
  recursive subroutine advance(i, by)
    integer, intent(inout) :: i
    integer, intent(in) :: by
    if (by > 0) then
      call advance(i, by - 1)
      i = i + 1
    end if
  end subroutine

  subroutine gather()
    integer :: j
    do j = 1, 1000
      call advance(k, 2)
      b(j) = b(j) + a(k + 7)
    end do
  end subroutine
end module

program by_reference
  use counting
  implicit none
  integer :: j, t
  a = 0
  b = 0
  do t = 1, 3
    !$omp parallel do
    do j = 1, 5000
      a(j) = j * t
    end do
    !$omp parallel
    !$omp single
    k = 0
    call gather()
    !$omp end single
    !$omp end parallel
  end do
  print *, k, sum(b)
end program
