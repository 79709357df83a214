! What regions write to units: text variables, standard output, and files that were opened before. Other ranks' text
! reaches rank 0's units in the order of synchronisation; records that have not ended stay so.
program units
  use omp_lib
  use iso_fortran_env, only: output_unit
  implicit none
  integer :: i, me, u
  character(len=20) :: text
  real(8), allocatable :: a(:)
  integer :: step = 3
  namelist /state/ step
  open(newunit=u, file='first.txt', status='replace')
  open(12, file='second.txt', status='replace')
  write(u, *) 'begin', 1
  print *, 'serial', twice(2)
  !$omp parallel private(me, text, a, i)
  me = omp_get_thread_num()
  write(text, '(a,i0)') 'thread ', me
  allocate(a(me + 1))
  a = me
  !$omp do ordered
  do i = 1, 7
    !$omp ordered
    print *, 'turn', i, trim(text) == 'x', 0 * sum(a)
    write(u, '(a,i0)') 'turn ', i
    write(u, *) i, 1.5d0 * i
    write(12, '(i4)', advance='no') i
    write(output_unit, '(a)', advance='no') 'no end'
    write(*, '(2(a,/))') ' of it', 'two'
    !$omp end ordered
  end do
  !$omp master
  write(u, *) 'master'
  write(u, nml=state)
  write(*, '(a)') 'master'
  !$omp end master
  !$omp barrier
  !$omp critical
  print '(a)', 'critical'
  write(u, '(a)') 'critical'
  flush(u)
  !$omp end critical
  read(text, '(7x,i4)') i
  if (i /= me) error stop 'a text variable'
  deallocate(a)
  !$omp end parallel
  write(u, *) 'end'
  write(12, *) ' end'
  print *, 'end'
  close(u)
  close(12)
  call show('first.txt')
  call show('second.txt')
contains
  ! A region inside a statement that writes.
  integer function twice(n)
    integer, intent(in) :: n
    twice = 0
    !$omp parallel do reduction(+: twice)
    do i = 1, 2
      twice = twice + n
    end do
  end function

  subroutine show(name)
    character(*), intent(in) :: name
    character(len=80) :: line
    integer :: v, status
    open(newunit=v, file=name, status='old')
    do
      read(v, '(a)', iostat=status) line
      if (status /= 0) exit
      print *, trim(line)
    end do
    close(v, status='delete')
  end subroutine
end program
