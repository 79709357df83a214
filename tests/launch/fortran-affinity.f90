! OpenMP's functions that fill a text: what does not fit is cut off, blanks fill the rest, and all that there was to say
! is counted. (LLVM's own functions of these names stop the program with an assertion wherever a text is not full.)
! REQUIRES: flang
! RUN: %okl-fc -O1 -fopenmp %s -o %t
! RUN: %launch -n 2 %t | FileCheck --strict-whitespace %s
! RUN: OMP_NUM_THREADS=2 %t | FileCheck --strict-whitespace %s
! CHECK: 9 <thread %n   >
! CHECK: 9 <thre>
! CHECK: 7 <T0 of 2     >
! CHECK: 7 <T1 of 2     >
! CHECK: 5 <0  1>
program affinity
  implicit none
  integer(8), external :: omp_get_affinity_format, omp_capture_affinity
  integer, external :: omp_get_thread_num
  character(len=12) :: text
  character(len=4) :: short
  integer(8) :: needed
  integer :: i
  call omp_set_affinity_format('thread %n')
  needed = omp_get_affinity_format(text)
  print '(i0, 3a)', needed, ' <', text, '>'
  needed = omp_get_affinity_format(short)
  print '(i0, 3a)', needed, ' <', short, '>'
  !$omp parallel do ordered private(needed, text) schedule(static, 1)
  do i = 1, 2
    needed = omp_capture_affinity(text, 'T%n of %N')
    !$omp ordered
    print '(i0, 3a)', needed, ' <', text, '>'
    !$omp end ordered
  end do
  needed = omp_capture_affinity(short, '%2{nesting_level} %{num_teams}%%')
  print '(i0, 3a)', needed, ' <', short, '>'
end program
