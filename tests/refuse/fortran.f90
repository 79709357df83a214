! REQUIRES: flang
! Messages name Fortran's procedures and lines, and what is done in Fortran's terms.
! RUN: flang -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
! RUN: flang -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 \
! RUN:   | FileCheck --check-prefix=LINE %s
! RUN: not flang -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -DMPI -cpp -c %s -o %t.o 2>&1 \
! RUN:   | FileCheck --check-prefix=REFUSED %s
! RUN: flang -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -DDELIM -cpp %s -o %t \
! RUN:   -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir
! RUN: (mpirun --oversubscribe --allow-run-as-root -n 2 %t 2>&1 || true) | FileCheck --check-prefix=DELIM %s
module model
contains
  subroutine draw(a)
    real, intent(out) :: a(:)
    !$omp parallel
    call random_number(a(1))
    !$omp end parallel
  end subroutine
  subroutine step
    real :: a(4)
    call inner
  contains
    subroutine inner
      !$omp parallel
      open(10, file='x')
      !$omp end parallel
    end subroutine
  end subroutine
end module

program main
  use model
#ifdef DELIM
  open(11, file='text', delim='quote')
  !$omp parallel
  write(11, *) 'text'
  !$omp end parallel
#else
  !$omp parallel
  read(5, *) i
  !$omp end parallel
#endif
#ifdef MPI
  call MPI_Init(i)
#endif
end program
! CHECK: warning: in procedure model::draw: parallel region runs on rank 0 alone: it calls a random number procedure, which keeps state in Fortran's library (in procedure model::draw)
! CHECK: warning: in procedure model::step::inner: parallel region runs on rank 0 alone: it opens a unit (in procedure model::step::inner)
! CHECK: warning: in the main program: parallel region runs on rank 0 alone: it reads from a unit (in the main program)
! LINE: warning: {{.*}}fortran.f90:[[# @LINE - 34]]: parallel region runs on rank 0 alone: it calls a random number procedure, which keeps state in Fortran's library ({{.*}}fortran.f90:[[# @LINE - 34]])
! REFUSED: error: in the main program: okl: this file calls mpi_init: a program that uses MPI itself cannot be distributed over MPI ranks
! DELIM: okl: rank 1: {{.*}}writes to unit 11, while the program opens units with DELIM= (in the main program): other ranks than 0 do not know how that changes the text; let the master thread write it
