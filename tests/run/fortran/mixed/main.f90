! Fortran, C and C++ in one program: each has regions, calls the others in them, and uses the others' variables.
program mixed
  use model
  use omp_lib
  implicit none
  integer :: i, total, parts(8), seed, step(3)
  common /plain/ total, parts
  common /state/ seed, step
  !$omp threadprivate(/state/)
  !$omp parallel do
  do i = 1, 1000
    cells(i) = i
  end do
  call c_double_all(cells, 1000)
  print *, cxx_sum(cells, 1000), count, mine
  total = 0
  parts = 0
  !$omp parallel
  call advance(omp_get_thread_num())
  !$omp end parallel
  print *, total, parts(1:omp_get_max_threads()), seed, step
  !$omp parallel copyin(/state/)
  call advance(1)
  !$omp end parallel
  print *, total, parts(1:omp_get_max_threads())
end program
