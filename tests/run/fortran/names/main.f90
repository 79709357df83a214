! OpenMP's functions as a program calls them that has no interface of them, and as `omp_lib` declares them.
subroutine without_interface
  implicit none
  integer, external :: omp_get_num_threads, omp_get_thread_num, omp_get_max_threads, omp_get_level, omp_get_team_size
  integer, external :: omp_get_ancestor_thread_num, omp_test_nest_lock, omp_get_thread_limit, omp_get_max_active_levels
  logical, external :: omp_in_parallel, omp_get_dynamic, omp_test_lock, omp_in_final
  double precision, external :: omp_get_wtime, omp_get_wtick
  external :: omp_set_num_threads, omp_set_dynamic, omp_init_lock, omp_set_lock, omp_unset_lock, omp_destroy_lock
  external :: omp_init_nest_lock, omp_set_nest_lock, omp_unset_nest_lock, omp_destroy_nest_lock
  external :: omp_set_schedule, omp_get_schedule, omp_set_max_active_levels, omp_set_affinity_format
  integer(8) :: lock, nest
  integer :: n, m, threads, kind, chunk, i, level
  double precision :: start
  start = omp_get_wtime()
  threads = omp_get_max_threads()
  call omp_set_dynamic(.true.)
  print *, omp_in_parallel(), omp_get_dynamic(), omp_in_final()
  call omp_set_dynamic(.false.)
  call omp_set_schedule(2, 5)
  call omp_get_schedule(kind, chunk)
  call omp_set_max_active_levels(1)
  level = 1
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  n = 0
  m = 0
  !$omp parallel shared(n, m)
  if (omp_get_level() /= 1 .or. omp_get_team_size(level) /= omp_get_num_threads()) error stop 'team'
  if (omp_get_ancestor_thread_num(1) /= omp_get_thread_num()) error stop 'ancestor'
  call omp_set_lock(lock)
  n = n + 1
  call omp_unset_lock(lock)
  do while (.not. omp_test_lock(lock))
    !$omp flush
  end do
  n = n + 10
  call omp_unset_lock(lock)
  call omp_set_nest_lock(nest)
  if (omp_test_nest_lock(nest) /= 2) error stop 'nest'
  m = m + 100
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp end parallel
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  print *, n == 11 * threads .and. m == 100 * threads, kind, chunk, omp_get_max_active_levels(), omp_get_thread_limit() > 0
  call omp_set_num_threads(1)
  !$omp parallel
  n = omp_get_num_threads()
  !$omp end parallel
  call omp_set_num_threads(threads)
  call omp_set_affinity_format('thread %n  ')
  print *, n, omp_get_wtime() >= start, omp_get_wtick() > 0
end subroutine

program names
  call without_interface
  call with_interface
end program
