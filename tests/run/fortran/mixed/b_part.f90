! Another file with the same common blocks.
subroutine advance(by)
  use omp_lib
  implicit none
  integer, intent(in) :: by
  integer :: seed, step(3), total, parts(8)
  common /state/ seed, step
  !$omp threadprivate(/state/)
  common /plain/ total, parts
  seed = seed + by * step(3)
  !$omp atomic
  total = total + seed
  parts(omp_get_thread_num() + 1) = seed
end subroutine

! Called from C, in a region of C's.
subroutine from_c(i) bind(c)
  use model
  implicit none
  integer(c_int), value :: i
  mine = mine + i
  !$omp critical
  count = count + mine
  !$omp end critical
end subroutine
