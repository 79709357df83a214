! With the interfaces of `omp_lib`, most of which have `bind(c)`.
subroutine with_interface
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer(omp_sched_kind) :: kind
  integer(omp_allocator_handle_kind) :: handle
  type(omp_alloctrait) :: traits(1)
  integer :: chunk, n
  call omp_set_schedule(omp_sched_guided, 3)
  call omp_get_schedule(kind, chunk)
  traits(1)%key = omp_atk_alignment
  traits(1)%value = 64
  handle = omp_init_allocator(omp_large_cap_mem_space, 1, traits)
  call omp_destroy_allocator(handle)
  call omp_init_lock_with_hint(lock, omp_sync_hint_contended)
  n = 0
  !$omp parallel
  call omp_set_lock(lock)
  n = n + merge(1, 1000, omp_in_parallel())
  call omp_unset_lock(lock)
  !$omp end parallel
  call omp_destroy_lock(lock)
  print *, n == omp_get_max_threads(), kind == omp_sched_guided, chunk, handle /= 0, omp_get_num_procs() > 0
end subroutine
