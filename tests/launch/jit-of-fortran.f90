! Regions in Fortran are compiled once more while the program runs: whether a product and a sum become one operation is left to
! LLVM, and stays what it was where the processor has none that the code was compiled for.
!
! REQUIRES: flang
! RUN: %okl-fc -O3 -fopenmp --okl-target=cpu --okl-jit %s -o %t
! RUN: export OMP_NUM_THREADS=2 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck %s < %t.told
! RUN: %okl-fc -O3 -march=haswell -fopenmp --okl-target=cpu --okl-jit %s -o %t
! RUN: export OMP_NUM_THREADS=2 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck --allow-empty --check-prefix=FUSED %s < %t.told
!
! What loops run to, behind the addresses that a region gets, is known, and how an array lies; not what the region writes.
! CHECK: okl: versions of {{.*}}main{{.*}}: 20 calls
! CHECK: okl:   1 values: made in {{.*}} ms, 10 calls
! CHECK: okl:   1 values: made in {{.*}} ms, 10 calls
! CHECK: okl: versions of {{.*}}damp{{.*}}: 20 calls
! CHECK: okl:   2 values: made in {{.*}} ms, 9 calls
! CHECK: okl:   2 values: made in {{.*}} ms, 11 calls
! CHECK: okl: versions of {{.*}}changes{{.*}}: 20 calls
! CHECK: okl:   1 values: made in {{.*}} ms, 20 calls
! CHECK: okl: versions of {{.*}}passes: 4 calls
! CHECK-NEXT: okl:   0 values: made
! FUSED-NOT: {{[1-9]}} values
module small
  implicit none
contains
  ! The same small function several times: what one calls `x` is what another one calls `y`.
  subroutine put(x, y)
    integer, intent(out) :: x
    integer, intent(in) :: y
    x = y * 3 + 1
  end subroutine
  subroutine passes(x, y, z)
    integer :: x, y, z, own
    !$omp parallel private(own)
    call put(own, y)
    !$omp barrier
    !$omp single
    call put(y, z)
    !$omp end single
    !$omp single
    call put(x, y)
    call put(z, own)
    !$omp end single
    !$omp end parallel
  end subroutine
end module
program smooth
  use small
  implicit none
  integer, parameter :: n = 1000
  integer :: i, k, radius, step, total
  real(8) :: a(n), b(n), factor
  radius = 3
  k = 7
  factor = 1d0 / (2 * radius + 1)
  do i = 1, n
    a(i) = 1d0 / i
  end do
  b = 0
  do step = 1, 20
    !$omp parallel do private(k)
    do i = 1 + radius, n - radius
      b(i) = 0
      do k = -radius, radius
        b(i) = b(i) + factor * a(i + k)
      end do
    end do
    !$omp end parallel do
    a = b * 0.5d0 + a
    if (step == 10) radius = 4
    call damp(a, n, radius)
    total = 3
    call changes(a, total)
  end do
  print '(2z17.16,i6)', sum(a), a(500), total
  do step = 1, 4
    call passes(radius, total, k)
    print '(3i12)', radius, total, k
  end do
contains
  subroutine damp(x, last, first)
    integer, intent(in) :: last, first
    real(8), intent(inout) :: x(last)
    integer :: i
    !$omp parallel do
    do i = first + 20, last
      x(i) = x(i) * 0.75d0
    end do
    !$omp end parallel do
  end subroutine
  subroutine changes(x, total)
    real(8), intent(inout) :: x(:)
    integer, intent(inout) :: total
    !$omp parallel num_threads(1)
    x(1) = x(1) + total
    total = total + 5
    x(2) = x(2) + total
    !$omp end parallel
  end subroutine
end program
