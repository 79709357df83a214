! Worksharing loops that may have no iteration: flang passes the number of iterations less one as an unsigned bound,
! which is then the largest number there is. Both loops of the prefix sum are empty for some lengths.
program empty_loops
  implicit none
  integer, parameter :: most = 300
  integer :: numbers(most), i, n, m, step
  integer(8) :: long
  integer :: counts(8)

  do n = 1, 260, 7
    do i = 1, most
      numbers(i) = mod(i * 7, 3)
    end do
    call prefix_sum(numbers, n)
    print *, n, numbers(n), sum(numbers)
  end do

  do step = -2, 2
    if (step == 0) cycle
    do m = -1, 3
      counts = 0
      !$omp parallel
      !$omp do
      do i = 1, m, step
        !$omp atomic
        counts(1) = counts(1) + i
      end do
      !$omp do schedule(static, 2)
      do i = 1, m, step
        !$omp atomic
        counts(2) = counts(2) + i
      end do
      !$omp do schedule(dynamic)
      do i = 1, m, step
        !$omp atomic
        counts(3) = counts(3) + i
      end do
      !$omp do schedule(guided) reduction(+ : counts)
      do i = 1, m, step
        counts(4) = counts(4) + i
      end do
      !$omp do
      do long = 5_8, 4_8 + m, step
        !$omp atomic
        counts(5) = counts(5) + int(long)
      end do
      !$omp do collapse(2)
      do i = 1, m, step
        do n = 1, 3
          !$omp atomic
          counts(6) = counts(6) + i * n
        end do
      end do
      !$omp do collapse(2) schedule(static, 1)
      do n = 1, 3
        do i = 1, m, step
          !$omp atomic
          counts(7) = counts(7) + i * n
        end do
      end do
      !$omp do lastprivate(i)
      do i = 1, m, step
        call add(counts(8), i)
      end do
      !$omp end parallel
      print *, step, m, counts
    end do
  end do

contains

  subroutine add(sum, one)
    integer, intent(inout) :: sum
    integer, intent(in) :: one
    !$omp atomic
    sum = sum + one
  end subroutine

  subroutine prefix_sum(numbers, n)
    integer, intent(in) :: n
    integer, intent(inout) :: numbers(most)
    integer :: width, before, i, j, added, rest
    width = 1
    do while (width < n)
      !$omp parallel do private(added, j)
      do i = 2 * width, n, 2 * width
        added = numbers(i - width)
        do j = width - 1, 0, -1
          numbers(i - j) = numbers(i - j) + added
        end do
      end do
      i = (n / (2 * width) + 1) * 2 * width
      rest = i - n
      if (rest < width) then
        before = numbers(i - width)
        !$omp parallel do
        do j = width - 1, rest, -1
          numbers(i - j) = numbers(i - j) + before
        end do
      end if
      width = 2 * width
    end do
  end subroutine
end program
