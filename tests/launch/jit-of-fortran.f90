! Regions in Fortran are compiled once more while the program runs: whether a product and a sum become one operation is left to
! LLVM, and stays what it was where the processor has none that the code was compiled for.
!
! REQUIRES: flang
! RUN: %okl-fc -O3 -fopenmp --okl-target=cpu --okl-jit %s -o %t
! RUN: export OMP_NUM_THREADS=2 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck %s < %t.told
! RUN: %okl-fc -O3 -march=haswell -fopenmp --okl-target=cpu --okl-jit %s -o %t
! RUN: export OMP_NUM_THREADS=2 && OKL_JIT=0 %t > %t.0 && OKL_JIT=sync OKL_STATS=1 %t > %t.1 2> %t.told && cmp %t.0 %t.1 && FileCheck --allow-empty --check-prefix=FUSED %s < %t.told
!
! CHECK: okl: versions of {{.*}}: 20 calls
! CHECK: values: made in {{.*}} ms, 20 calls
! FUSED-NOT: versions
program smooth
  implicit none
  integer, parameter :: n = 1000
  integer :: i, k, radius, step
  real(8) :: a(n), b(n), factor
  radius = 3
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
  end do
  print '(2z17.16)', sum(a), a(500)
end program
