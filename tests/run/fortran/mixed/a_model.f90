! Variables that other files use: of a module, of common blocks, one of them each thread's own.
module model
  use iso_c_binding
  implicit none
  real(c_double), bind(c, name='shared_cells') :: cells(1000)
  integer(c_int), bind(c, name='shared_count') :: count = 0
  integer, save :: mine = 40
  !$omp threadprivate(mine)
  interface
    subroutine c_double_all(a, n) bind(c)
      import
      real(c_double) :: a(*)
      integer(c_int), value :: n
    end subroutine
    function cxx_sum(a, n) bind(c) result(s)
      import
      real(c_double) :: a(*)
      integer(c_int), value :: n
      real(c_double) :: s
    end function
  end interface
end module

! Initial values of a block of which each thread has a copy.
block data
  implicit none
  integer :: seed, step(3)
  common /state/ seed, step
  data seed /11/, step /1, 2, 3/
end block data
