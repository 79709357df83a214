! Every construct of OpenMP in Fortran that a program without tasks has, on data of every kind that Fortran knows.
module shapes
  implicit none
  type :: point
    real(8) :: x = 0, y = 0
  end type
  type :: box
    integer :: count = 0
    real(8), allocatable :: values(:)
  end type
  integer, save :: counter = 7
  real(8), allocatable, save :: work(:)
  !$omp threadprivate(counter, work)
  real(8), allocatable :: field(:, :)
contains
  pure function sum_of(a, b) result(c)
    type(point), intent(in) :: a, b
    type(point) :: c
    c = point(a%x + b%x, a%y + b%y)
  end function

  ! An orphaned loop on an assumed-shape array.
  subroutine scale(a)
    real(8), intent(inout) :: a(:)
    integer :: i
    !$omp do schedule(dynamic, 3)
    do i = 1, size(a)
      a(i) = 2 * a(i) + i
    end do
  end subroutine

  recursive integer function fibonacci(n) result(r)
    integer, intent(in) :: n
    integer :: a, b
    if (n < 2) then
      r = n
      return
    end if
    !$omp task shared(a) if(n > 5)
    a = fibonacci(n - 1)
    !$omp end task
    !$omp task shared(b) if(n > 5)
    b = fibonacci(n - 2)
    !$omp end task
    !$omp taskwait
    r = a + b
  end function
end module

subroutine loops
  use shapes
  implicit none
  integer :: i, j, last, n
  real(8) :: a(100), total
  integer :: hits(100)
  a = 1
  !$omp parallel
  call scale(a)
  !$omp end parallel
  print *, 'orphaned', sum(a)

  allocate(field(20, 30))
  !$omp parallel do collapse(2) schedule(static, 7)
  do j = 1, 30
    do i = 1, 20
      field(i, j) = 100 * j + i
    end do
  end do
  print *, 'collapse', sum(field), field(20, 30)

  last = 0
  hits = 0
  !$omp parallel do lastprivate(last) schedule(guided)
  do i = 1, 100
    last = 3 * i
    hits(i) = hits(i) + 1
  end do
  print *, 'lastprivate', last, all(hits == 1)

  n = 0
  total = 0
  !$omp parallel
  !$omp do ordered schedule(static, 1) reduction(+: total)
  do i = 10, -10, -2
    total = total + i
    !$omp ordered
    n = 3 * n + i
    !$omp end ordered
  end do
  !$omp sections
  !$omp section
  hits(1) = 11
  !$omp section
  hits(2) = 22
  !$omp end sections
  !$omp end parallel
  print *, 'ordered', n, total, hits(1:3)

  !$omp parallel workshare
  a = a * 2
  a(1:50) = a(51:100)
  where (a > 200)
    a = 0
  end where
  !$omp end parallel workshare
  print *, 'workshare', sum(a)

  !$omp parallel do simd reduction(max: total)
  do i = 1, 100
    total = max(total, a(i) + i)
  end do
  print *, 'simd', total
end subroutine

subroutine clauses
  use shapes
  implicit none
  integer, external :: omp_get_thread_num, omp_get_num_threads
  integer :: i, k, threads
  real(8) :: fixed(5), got
  real(8), allocatable :: mine(:), seen(:)
  real(8), pointer :: p(:)
  real(8), target :: aim(10)
  type(box) :: b
  character(len=8) :: word
  threads = 1
  !$omp parallel
  !$omp master
  threads = omp_get_num_threads()
  !$omp end master
  !$omp end parallel
  allocate(mine(4), seen(0:threads - 1))
  mine = [1, 2, 3, 4]
  fixed = 5
  seen = 0
  aim = 1
  p => aim
  word = 'first'
  b%count = 3
  allocate(b%values(2))
  b%values = 8
  got = 0
  !$omp parallel firstprivate(mine, fixed, word, b, p) private(k) reduction(+: got)
  k = omp_get_thread_num()
  mine(2) = mine(2) + k
  fixed(1) = fixed(1) + sum(mine)
  b%values(1) = b%values(1) + k
  p(k + 1) = fixed(1)
  word(6:6) = achar(iachar('a') + k)
  seen(k) = sum(mine) + sum(fixed) + b%count + b%values(1) + iachar(word(6:6))
  got = got + 1
  !$omp end parallel
  print *, 'firstprivate', int(got) == threads, seen, mine(2), b%values(1), word
  print *, 'pointer', aim(1:threads)

  deallocate(mine)
  !$omp parallel private(mine, p)
  allocate(mine(10 + omp_get_thread_num()), p(3))
  mine = omp_get_thread_num()
  p = 1
  k = int(sum(mine) + sum(p))
  !$omp atomic
  got = got + k
  deallocate(mine, p)
  !$omp end parallel
  print *, 'private', got

  counter = 5
  allocate(work(3))
  work = 2
  !$omp parallel copyin(counter, work)
  counter = counter + omp_get_thread_num()
  work(1) = work(1) + counter
  !$omp end parallel
  !$omp parallel
  seen(omp_get_thread_num()) = counter + 100 * work(1) + 1000 * size(work)
  !$omp end parallel
  print *, 'threadprivate', counter, seen

  k = 0
  fixed = 0
  !$omp parallel private(k) shared(fixed)
  !$omp single
  k = 17
  !$omp end single copyprivate(k)
  !$omp critical (adding)
  fixed(2) = fixed(2) + k
  !$omp end critical (adding)
  !$omp end parallel
  print *, 'copyprivate', fixed(2) / threads

  !$omp parallel num_threads(1) default(none) shared(fixed)
  fixed(3) = omp_get_num_threads()
  !$omp end parallel
  !$omp parallel if (threads > 100) default(shared)
  fixed(4) = omp_get_num_threads()
  !$omp end parallel
  print *, 'one', fixed(3:4)
end subroutine

subroutine reductions
  use shapes
  implicit none
  integer :: i, histogram(0:9), bits, least
  logical :: every, any_of
  complex(8) :: z
  real(8), allocatable :: sums(:)
  real(8), pointer :: q(:)
  real(8) :: part(3, 4)
  type(point) :: s
  !$omp declare reduction(add: point: omp_out = sum_of(omp_out, omp_in)) initializer(omp_priv = point(0d0, 0d0))
  histogram = 0
  bits = 0
  least = 1000
  every = .true.
  any_of = .false.
  z = 0
  !$omp parallel do reduction(+: histogram, z) reduction(ior: bits) reduction(min: least) reduction(.and.: every) &
  !$omp reduction(.or.: any_of)
  do i = 1, 100
    histogram(mod(i, 10)) = histogram(mod(i, 10)) + i
    bits = ior(bits, ishft(1, mod(i, 12)))
    least = min(least, abs(50 - i) + 3)
    every = every .and. i > 0
    any_of = any_of .or. i == 77
    z = z + cmplx(i, -i, 8)
  end do
  print *, 'scalars', histogram, bits, least, every, any_of, z

  allocate(sums(5), q(5))
  sums = 1
  q = 0
  part = 0
  !$omp parallel do reduction(+: sums, q, part)
  do i = 1, 60
    sums(mod(i, 5) + 1) = sums(mod(i, 5) + 1) + i
    q(mod(i, 5) + 1) = q(mod(i, 5) + 1) + 2 * i
    part(mod(i, 3) + 1, mod(i, 4) + 1) = part(mod(i, 3) + 1, mod(i, 4) + 1) + i
  end do
  print *, 'arrays', sums, q, part

  s = point(1, 2)
  !$omp parallel do reduction(add: s)
  do i = 1, 100
    s%x = s%x + i
    s%y = s%y + 2 * i
  end do
  print *, 'declared', s%x, s%y
end subroutine

subroutine tasks
  use shapes
  implicit none
  integer :: i, r, squares(40), order
  !$omp parallel
  !$omp single
  r = fibonacci(12)
  !$omp taskgroup
  !$omp taskloop grainsize(4)
  do i = 1, 40
    squares(i) = i * i
  end do
  !$omp end taskgroup
  order = 1
  !$omp task depend(out: order) firstprivate(i)
  order = 10 * order + 2
  !$omp end task
  !$omp task depend(inout: order)
  order = 10 * order + 3
  !$omp end task
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  print *, 'tasks', r, sum(squares), order
end subroutine

subroutine updates
  implicit none
  integer :: i, n, hundreds, old(200)
  real(8) :: x
  n = 0
  hundreds = 0
  x = 1
  !$omp parallel do private(i)
  do i = 1, 200
    !$omp atomic capture
    old(i) = n
    n = n + 1
    !$omp end atomic
    !$omp atomic update
    x = max(x, 0.5d0 * i)
    !$omp critical
    if (mod(i, 100) == 0) hundreds = hundreds + 1
    !$omp end critical
  end do
  !$omp parallel private(i)
  !$omp atomic read
  i = n
  !$omp end parallel
  print *, 'atomic', n, sum(old), x, hundreds
end subroutine

program constructs
  call loops
  call clauses
  call reductions
  call tasks
  call updates
end program
