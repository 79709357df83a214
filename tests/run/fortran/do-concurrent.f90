! `do concurrent`, where flang makes a parallel loop of it.
! flags: -fdo-concurrent-to-openmp=host
! threads: any
program concurrent
  implicit none
  integer :: i, j, k
  real(8) :: a(200), b(30, 20)
  do concurrent (i = 1:200)
    a(i) = 0.5d0 * i
  end do
  do concurrent (j = 1:20, i = 1:30) local(k)
    k = 30 * (j - 1) + i
    b(i, j) = a(mod(k, 200) + 1)
  end do
  print *, sum(a), sum(b), b(30, 20)
end program
