! schedules: 0 1 2 3 4 5 6
! refused: 90 91 92
! says 90: dependence (-1,0) between iterations
! says 91: write `wavefront`
! says 92: the domain of this loop is declared as
!
! Chains of Fortran: arrays whose extents are arguments, allocatable ones of a module, and such that are described when the
! program runs; loops with directives of OpenMP, variables of their own, and a sum. Subscripts are named in their order, or, for
! what is `local`, as loops are.
#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8, edge), wavefront, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 5
#define ITEMS fuse((0), (1))
#elif SCHEDULE == 6
#define ITEMS tile((4, 4), parallel, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0, 0), (0, 0))
#elif SCHEDULE == 91
#define ITEMS fuse(), tile((8, 8), parallel, serial)
#elif SCHEDULE == 92
#define ITEMS fuse()
#endif
#if SCHEDULE == 92
#define LAST m - 1
#else
#define LAST m
#endif

module planes
  implicit none
  real(8), allocatable :: u(:, :), v(:, :), w(:, :)
  integer :: rows, columns
contains
  ! Loops that read each other's neighbours.
  subroutine sweep(a, b, n, m, edge, last)
    integer, intent(in) :: n, m, edge
    real(8), intent(inout) :: a(0:n + 1, 0:m + 1), b(0:n + 1, 0:m + 1)
    integer, intent(out) :: last
    integer :: i, j
    !$omplc loopchain schedule(ITEMS)
    !$omplc for domain(1:LAST, 1:n) with(j, i) write a{(i,j)}, &
    !$omplc& read b{(i-1,j),(i,j),(i+1,j),(i,j-1),(i,j+1)}
    do j = 1, m
      do i = 1, n
        a(i, j) = (b(i-1, j) + b(i, j) + b(i+1, j) + b(i, j-1) + b(i, j+1)) * 0.2d0
      end do
    end do
    !$OMPLC FOR DOMAIN(1:M, 1:N) WITH(J, I) WRITE B{(I,J)}, READ A{(I-1,J),(I,J),(I+1,J),(I,J-1),(I,J+1)}
    do j = 1, m
      do i = 1, n
        b(i, j) = (a(i-1, j) + a(i, j) + a(i+1, j) + a(i, j-1) + a(i, j+1)) * 0.2d0
      end do
    end do
    !$omplc end loopchain
    last = 1000 * i + j
  end subroutine

  ! What the first loop computes the second one needs in the same iteration; both have threads without okl.
  subroutine through(total)
    integer, intent(out) :: total
    integer :: i, j
    real(8) :: left
    total = 0
#if SCHEDULE == 0
#define OTHERS
#elif SCHEDULE < 3
#define OTHERS fuse()
#else
#define OTHERS fuse(), parallel
#endif
    !$omplc loopchain schedule(OTHERS) local(v)
    !$omplc for domain(1:columns, 2:rows) with(j, i) write v{(j,i)}, read u{(j,i-1),(j,i)}
    !$omp parallel do private(left)
    do j = 1, columns
      do i = 2, rows
        left = u(i-1, j)
        v(i, j) = left + 2 * u(i, j)
      end do
    end do
    !$omp end parallel do
    !$omplc for domain(1:columns, 2:rows) with(j, i) read v{(j,i)}, write w{(j,i)}
    !$omp parallel do reduction(+: total)
    do j = 1, columns
      do i = 2, rows
        w(i, j) = v(i, j) / 3
        total = total + mod(int(v(i, j)), 5)
      end do
    end do
    !$omplc end loopchain
  end subroutine

  ! Arrays of any strides.
  subroutine shapes(from, to, between)
    real(8), intent(in) :: from(:)
    real(8), intent(inout) :: to(0:)
    real(8), allocatable, intent(inout) :: between(:)
    integer(8) :: k
    !$omplc loopchain schedule(OTHERS)
    !$omplc for domain(2:size(from)-1) with(k) write between{(k)}, read from{(k-1),(k+1)}
    do k = 2, size(from) - 1
      between(k) = from(k-1) + from(k+1)
    end do
    !$omplc for domain(2:size(from)-1) with(k) read between{(k)}, write to{(k)}
    do k = 2, size(from) - 1
      to(k) = between(k) * 2
    end do
    !$omplc end loopchain
  end subroutine

  subroutine show(name, data)
    character(*), intent(in) :: name
    real(8), intent(in) :: data(:, :)
    integer(8) :: mix
    integer :: i, j
    mix = 0
    do j = 1, size(data, 2)
      do i = 1, size(data, 1)
        mix = ieor(ishftc(mix, 7), transfer(data(i, j), mix))
      end do
    end do
    print '(a,1x,z16.16)', name, mix
  end subroutine
end module

program fortran
  use planes
  implicit none
  integer, parameter :: n = 37, m = 29
  real(8), allocatable :: a(:, :), b(:, :), middle(:)
  real(8) :: line(200), result(0:199)
  integer :: i, j, last, total
  allocate(a(0:n + 1, 0:m + 1), b(0:n + 1, 0:m + 1))
  do j = 0, m + 1
    do i = 0, n + 1
      a(i, j) = mod(i * 7 + j * 3, 11) * 0.37d0
      b(i, j) = a(i, j) + 1
    end do
  end do
  do i = 1, 3
    call sweep(a, b, n, m, 16, last)
  end do
  print '(i0)', last
  call show('a', a)
  call show('b', b)
  rows = 41
  columns = 23
  allocate(u(rows, columns), w(rows, columns), v(rows, columns))
  u = 0
  w = 0
  v = 0
  do j = 1, columns
    do i = 1, rows
      u(i, j) = mod(i * 5 + j * 3, 13)
    end do
  end do
  call through(total)
  print '(i0)', total
  call show('w', w)
  line = [(mod(i * 7, 11) * 0.5d0, i = 1, 200)]
  result = 0
  allocate(middle(200))
  middle = 0
  call shapes(line(1:199:2), result, middle)
  call show('result', reshape(result, [20, 10]))
end program
