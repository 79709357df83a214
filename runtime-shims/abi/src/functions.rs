//! The list of runtime functions.

/// Calls `$m!` with every function of the MPI runtime: `fn name(param: type, ...) -> type: [EFFECT, ...] "words";`.
/// What the effects are [`crate::Effects`] says; the words, where there are some, say what the function is to the user,
/// as the end of a sentence that begins with "it".
///
/// `okl_mpi_kmpc_x` replaces `__kmpc_x` and `okl_mpi_omp_x` replaces `omp_x`, with the meaning the
/// OpenMP specification and LLVM's `kmp.h` give them; the other functions are described here. A `format` is a text, and a
/// `buffer` gets one.
#[macro_export]
macro_rules! for_each_mpi_fn {
    ($m:ident) => {
        $m! {
            // Start-up.
            /// Hands over a `ModuleTable`; called before `main`, from a constructor of each module.
            fn okl_mpi_register_v15(table: ptr): [APART];
            /// Runs the program: `user_main` on rank 0, the team's other threads on the other ranks.
            fn okl_mpi_main(user_main: ptr, argc: i32, argv: ptr, envp: ptr) -> i32: [MAY_UNWIND];

            // Output of Fortran programs.
            /// Hands over `FortranUnits`; called as `okl_mpi_register_v15` is.
            fn okl_mpi_fortran_units(units: ptr): [APART];
            /// Before a statement that writes text to `unit`: the unit it is to name.
            fn okl_mpi_fortran_begin(unit: i32) -> i32: [APART];
            /// After that statement.
            fn okl_mpi_fortran_end(unit: i32): [APART];

            // Regions.
            /// `__kmpc_fork_call`: runs a `RegionDescriptor` with `count` captured values of 8 bytes.
            fn okl_mpi_fork(region: ptr, args: ptr, count: i64): [FORKS, ACQUIRES, UNPLAIN, MAY_UNWIND, APART] "starts a parallel region";
            /// `__kmpc_fork_teams`: a league of one team, run by the initial thread.
            fn okl_mpi_fork_teams(region: ptr, args: ptr, count: i64): [FORKS, LEAGUE, ACQUIRES, UNPLAIN, MAY_UNWIND, APART] "starts a parallel region";
            /// Stops the job if the caller's team has more than one thread: an `UnsafeSite` was reached.
            fn okl_mpi_unsafe_here(site: ptr): [UNPLAIN, APART] "must not run on several ranks";
            /// A turn of a loop that only another thread can end: stops the job if there is none. `place` is where
            /// the loop waits, in words; `turns` counts those since it was entered.
            fn okl_mpi_waits_here(place: ptr, turns: ptr): [UNPLAIN, APART] "waits for another thread";
            /// Declares what this thread reads and writes from here to its next declaration or
            /// synchronisation: a `SectionTable`, and what is computed of its values: for each of its entries the
            /// address of the first element, then stride and count of each dimension, outer ones first. All values
            /// are `i64`. Those of entries with `MARKED` are replaced.
            fn okl_mpi_sections(table: ptr, computed: ptr): [APART];
            /// In a region with `DECLARES_ALL`: whether what follows accesses memory without declaring it (1), or all is
            /// declared (0); 2 only asks. Declarations are not heeded while it does. What was so before. With 1 the `Stretch` that
            /// begins.
            fn okl_mpi_undeclared(now: i32, stretch: ptr) -> i32: [APART];
            /// After a region with `SERIAL_CODE_ANNOUNCED`: serial code goes on that touches memory.
            fn okl_mpi_serial_code(): [APART];
            /// Instead of `okl_mpi_serial_code`, before each access to memory: `bytes` are read or written.
            fn okl_mpi_serial_access(address: ptr, bytes: i64, writes: i32): [QUIET];
            /// Where to load `bytes` from, 8 at most, that a loop may load from `address`, or not: there if they can be read,
            /// otherwise where zeros are.
            fn okl_mpi_readable(address: ptr, bytes: i64) -> ptr: [HIDDEN];
            /// Makes the object behind a pointer present and writable before an unknown function sees it.
            fn okl_mpi_touch(object: ptr): [SEPARATES, APART] "hands memory to a library";
            /// `__kmpc_global_thread_num`.
            fn okl_mpi_kmpc_global_thread_num(ident: ptr) -> i32: [QUIET, ASKS];
            /// `__kmpc_push_num_threads`.
            fn okl_mpi_kmpc_push_num_threads(ident: ptr, gtid: i32, threads: i32): [QUIET, ASKS];
            /// `__kmpc_push_proc_bind`.
            fn okl_mpi_kmpc_push_proc_bind(ident: ptr, gtid: i32, bind: i32): [QUIET, ASKS];
            /// `__kmpc_push_num_teams`.
            fn okl_mpi_kmpc_push_num_teams(ident: ptr, gtid: i32, teams: i32, threads: i32): [QUIET];
            /// `__kmpc_push_num_teams_51`.
            fn okl_mpi_kmpc_push_num_teams_51(ident: ptr, gtid: i32, lower: i32, upper: i32, threads: i32): [QUIET];
            /// `__kmpc_set_thread_limit`.
            fn okl_mpi_kmpc_set_thread_limit(ident: ptr, gtid: i32, limit: i32): [APART];
            /// `__kmpc_serialized_parallel`.
            fn okl_mpi_kmpc_serialized_parallel(ident: ptr, gtid: i32): [APART] "starts a parallel region";
            /// `__kmpc_end_serialized_parallel`.
            fn okl_mpi_kmpc_end_serialized_parallel(ident: ptr, gtid: i32): [APART] "starts a parallel region";

            // Synchronisation.
            /// `__kmpc_barrier`.
            fn okl_mpi_kmpc_barrier(ident: ptr, gtid: i32): [SEPARATES, BARRIER, ACQUIRES, ORDERS, APART];
            /// `__kmpc_cancel_barrier`.
            fn okl_mpi_kmpc_cancel_barrier(ident: ptr, gtid: i32) -> i32: [BARRIER, ACQUIRES, APART] "may be cancelled";
            /// `__kmpc_cancel`.
            fn okl_mpi_kmpc_cancel(ident: ptr, gtid: i32, kind: i32) -> i32: [APART] "may be cancelled";
            /// `__kmpc_cancellationpoint`.
            fn okl_mpi_kmpc_cancellationpoint(ident: ptr, gtid: i32, kind: i32) -> i32: [APART] "may be cancelled";
            /// `__kmpc_flush`.
            fn okl_mpi_kmpc_flush(ident: ptr): [FLUSHES, APART] "flushes";
            /// `__kmpc_master`.
            fn okl_mpi_kmpc_master(ident: ptr, gtid: i32) -> i32: [SEPARATES, CHOOSES, FIRST, APART];
            /// `__kmpc_end_master`.
            fn okl_mpi_kmpc_end_master(ident: ptr, gtid: i32): [SEPARATES, ENDS_CHOICE, FIRST, APART];
            /// `__kmpc_masked`.
            fn okl_mpi_kmpc_masked(ident: ptr, gtid: i32, filter: i32) -> i32: [SEPARATES, CHOOSES, FILTERED, APART];
            /// `__kmpc_end_masked`.
            fn okl_mpi_kmpc_end_masked(ident: ptr, gtid: i32): [SEPARATES, ENDS_CHOICE, FILTERED, APART];
            /// `__kmpc_single`.
            fn okl_mpi_kmpc_single(ident: ptr, gtid: i32) -> i32: [SEPARATES, CHOOSES, APART];
            /// `__kmpc_end_single`.
            fn okl_mpi_kmpc_end_single(ident: ptr, gtid: i32): [SEPARATES, ENDS_CHOICE, APART];
            /// `__kmpc_copyprivate`.
            fn okl_mpi_kmpc_copyprivate(ident: ptr, gtid: i32, size: i64, data: ptr, copy: ptr, did_it: i32): [BARRIER, ACQUIRES, APART] "copies private variables";
            /// `__kmpc_critical`.
            fn okl_mpi_kmpc_critical(ident: ptr, gtid: i32, name: ptr): [ENTERS, ACQUIRES, ORDERS, APART] "has a critical section";
            /// `__kmpc_critical_with_hint`.
            fn okl_mpi_kmpc_critical_with_hint(ident: ptr, gtid: i32, name: ptr, hint: i32): [ENTERS, ACQUIRES, ORDERS, APART] "has a critical section";
            /// `__kmpc_end_critical`.
            fn okl_mpi_kmpc_end_critical(ident: ptr, gtid: i32, name: ptr): [LEAVES, ORDERS, APART] "has a critical section";
            /// `__kmpc_critical` of a section that does nothing but updates, as `okl_mpi_atomic_update`s, of which
            /// nobody in its region can tell in which order they took place.
            fn okl_mpi_critical_updates(ident: ptr, gtid: i32, name: ptr): [HIDDEN] "has a critical section";
            /// `__kmpc_end_critical` of such a section.
            fn okl_mpi_end_critical_updates(ident: ptr, gtid: i32, name: ptr): [HIDDEN] "has a critical section";
            /// `__kmpc_ordered`.
            fn okl_mpi_kmpc_ordered(ident: ptr, gtid: i32): [ACQUIRES, APART] "has an ordered part";
            /// `__kmpc_end_ordered`.
            fn okl_mpi_kmpc_end_ordered(ident: ptr, gtid: i32): [APART] "has an ordered part";
            /// `__kmpc_scope`.
            fn okl_mpi_kmpc_scope(ident: ptr, gtid: i32, reserved: ptr): [QUIET];
            /// `__kmpc_end_scope`.
            fn okl_mpi_kmpc_end_scope(ident: ptr, gtid: i32, reserved: ptr): [SEPARATES, APART];
            /// `__kmpc_error`.
            fn okl_mpi_kmpc_error(ident: ptr, severity: i32, message: ptr): [APART];
            /// `__kmpc_doacross_init`.
            fn okl_mpi_kmpc_doacross_init(ident: ptr, gtid: i32, dims: i32, bounds: ptr): [APART] "waits for other iterations";
            /// `__kmpc_doacross_wait`.
            fn okl_mpi_kmpc_doacross_wait(ident: ptr, gtid: i32, iteration: ptr): [ACQUIRES, APART] "waits for other iterations";
            /// `__kmpc_doacross_post`.
            fn okl_mpi_kmpc_doacross_post(ident: ptr, gtid: i32, iteration: ptr): [APART] "waits for other iterations";
            /// `__kmpc_doacross_fini`.
            fn okl_mpi_kmpc_doacross_fini(ident: ptr, gtid: i32): [APART] "waits for other iterations";
            /// `__cxa_guard_acquire`: 1 where the caller must initialise the function-local static.
            fn okl_mpi_guard_acquire(guard: ptr) -> i32: [UNPLAIN, APART];
            /// `__cxa_guard_release`.
            fn okl_mpi_guard_release(guard: ptr): [UNPLAIN, APART];
            /// `__cxa_guard_abort`.
            fn okl_mpi_guard_abort(guard: ptr): [UNPLAIN, APART];

            // Reductions.
            /// `__kmpc_reduce`; `reach` is 1 where `combine` may reach memory other than the items themselves, else 0,
            /// or, where no item has more than `n` bytes, `-n`.
            fn okl_mpi_reduce(ident: ptr, gtid: i32, items: i32, list_size: i64, list: ptr, combine: ptr, lock: ptr, reach: i32) -> i32: [SEPARATES, REDUCES, ACQUIRES, APART];
            /// `__kmpc_reduce_nowait`; `reach` as in `okl_mpi_reduce`.
            fn okl_mpi_reduce_nowait(ident: ptr, gtid: i32, items: i32, list_size: i64, list: ptr, combine: ptr, lock: ptr, reach: i32) -> i32: [SEPARATES, REDUCES, ACQUIRES, APART];
            /// `__kmpc_end_reduce`.
            fn okl_mpi_kmpc_end_reduce(ident: ptr, gtid: i32, lock: ptr): [SEPARATES, APART];
            /// `__kmpc_end_reduce_nowait`.
            fn okl_mpi_kmpc_end_reduce_nowait(ident: ptr, gtid: i32, lock: ptr): [SEPARATES, APART];

            // Worksharing loops.
            /// `__kmpc_for_static_init_4`.
            fn okl_mpi_kmpc_for_static_init_4(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr, increment: i32, chunk: i32): [QUIET, SHARES];
            /// `__kmpc_for_static_init_4u`.
            fn okl_mpi_kmpc_for_static_init_4u(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr, increment: i32, chunk: i32): [QUIET, SHARES, UNSIGNED];
            /// `__kmpc_for_static_init_8`.
            fn okl_mpi_kmpc_for_static_init_8(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr, increment: i64, chunk: i64): [QUIET, SHARES];
            /// `__kmpc_for_static_init_8u`.
            fn okl_mpi_kmpc_for_static_init_8u(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr, increment: i64, chunk: i64): [QUIET, SHARES, UNSIGNED];
            /// `__kmpc_dist_for_static_init_4`.
            fn okl_mpi_kmpc_dist_for_static_init_4(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, upper_dist: ptr, stride: ptr, increment: i32, chunk: i32): [QUIET, SHARES];
            /// `__kmpc_dist_for_static_init_4u`.
            fn okl_mpi_kmpc_dist_for_static_init_4u(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, upper_dist: ptr, stride: ptr, increment: i32, chunk: i32): [QUIET, SHARES, UNSIGNED];
            /// `__kmpc_dist_for_static_init_8`.
            fn okl_mpi_kmpc_dist_for_static_init_8(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, upper_dist: ptr, stride: ptr, increment: i64, chunk: i64): [QUIET, SHARES];
            /// `__kmpc_dist_for_static_init_8u`.
            fn okl_mpi_kmpc_dist_for_static_init_8u(ident: ptr, gtid: i32, schedule: i32, last: ptr, lower: ptr, upper: ptr, upper_dist: ptr, stride: ptr, increment: i64, chunk: i64): [QUIET, SHARES, UNSIGNED];
            /// `__kmpc_dispatch_init_4`.
            fn okl_mpi_kmpc_dispatch_init_4(ident: ptr, gtid: i32, schedule: i32, lower: i32, upper: i32, stride: i32, chunk: i32): [SEPARATES, DEALS, APART];
            /// `__kmpc_dispatch_init_4u`.
            fn okl_mpi_kmpc_dispatch_init_4u(ident: ptr, gtid: i32, schedule: i32, lower: i32, upper: i32, stride: i32, chunk: i32): [SEPARATES, DEALS, UNSIGNED, APART];
            /// `__kmpc_dispatch_init_8`.
            fn okl_mpi_kmpc_dispatch_init_8(ident: ptr, gtid: i32, schedule: i32, lower: i64, upper: i64, stride: i64, chunk: i64): [SEPARATES, DEALS, APART];
            /// `__kmpc_dispatch_init_8u`.
            fn okl_mpi_kmpc_dispatch_init_8u(ident: ptr, gtid: i32, schedule: i32, lower: i64, upper: i64, stride: i64, chunk: i64): [SEPARATES, DEALS, UNSIGNED, APART];
            /// `__kmpc_dispatch_next_4`.
            fn okl_mpi_kmpc_dispatch_next_4(ident: ptr, gtid: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr) -> i32: [SEPARATES, SHARES, APART];
            /// `__kmpc_dispatch_next_4u`.
            fn okl_mpi_kmpc_dispatch_next_4u(ident: ptr, gtid: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr) -> i32: [SEPARATES, SHARES, UNSIGNED, APART];
            /// `__kmpc_dispatch_next_8`.
            fn okl_mpi_kmpc_dispatch_next_8(ident: ptr, gtid: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr) -> i32: [SEPARATES, SHARES, APART];
            /// `__kmpc_dispatch_next_8u`.
            fn okl_mpi_kmpc_dispatch_next_8u(ident: ptr, gtid: i32, last: ptr, lower: ptr, upper: ptr, stride: ptr) -> i32: [SEPARATES, SHARES, UNSIGNED, APART];
            /// `__kmpc_dispatch_fini_4`.
            fn okl_mpi_kmpc_dispatch_fini_4(ident: ptr, gtid: i32): [SEPARATES, APART];
            /// `__kmpc_dispatch_fini_4u`.
            fn okl_mpi_kmpc_dispatch_fini_4u(ident: ptr, gtid: i32): [SEPARATES, APART];
            /// `__kmpc_dispatch_fini_8`.
            fn okl_mpi_kmpc_dispatch_fini_8(ident: ptr, gtid: i32): [SEPARATES, APART];
            /// `__kmpc_dispatch_fini_8u`.
            fn okl_mpi_kmpc_dispatch_fini_8u(ident: ptr, gtid: i32): [SEPARATES, APART];
            /// `__kmpc_for_static_fini`.
            fn okl_mpi_kmpc_for_static_fini(ident: ptr, gtid: i32): [QUIET, ENDS_SHARE];
            /// `__kmpc_dispatch_deinit`.
            fn okl_mpi_kmpc_dispatch_deinit(ident: ptr, gtid: i32): [SEPARATES, ENDS_DEAL, APART];

            // Tasks: each runs on the rank that creates it.
            /// `__kmpc_omp_task_alloc`.
            fn okl_mpi_kmpc_omp_task_alloc(ident: ptr, gtid: i32, flags: i32, task_size: i64, shareds_size: i64, entry: ptr) -> ptr: [APART] "has tasks";
            /// `__kmpc_omp_task`.
            fn okl_mpi_kmpc_omp_task(ident: ptr, gtid: i32, task: ptr) -> i32: [APART] "has tasks";
            /// `__kmpc_omp_task_with_deps`.
            fn okl_mpi_kmpc_omp_task_with_deps(ident: ptr, gtid: i32, task: ptr, count: i32, deps: ptr, noalias_count: i32, noalias_deps: ptr) -> i32: [APART] "has tasks";
            /// `__kmpc_omp_task_begin_if0`.
            fn okl_mpi_kmpc_omp_task_begin_if0(ident: ptr, gtid: i32, task: ptr): [APART] "has tasks";
            /// `__kmpc_omp_task_complete_if0`.
            fn okl_mpi_kmpc_omp_task_complete_if0(ident: ptr, gtid: i32, task: ptr): [APART] "has tasks";
            /// `__kmpc_omp_wait_deps`.
            fn okl_mpi_kmpc_omp_wait_deps(ident: ptr, gtid: i32, count: i32, deps: ptr, noalias_count: i32, noalias_deps: ptr): [APART] "has tasks";
            /// `__kmpc_omp_taskwait_deps_51`.
            fn okl_mpi_kmpc_omp_taskwait_deps_51(ident: ptr, gtid: i32, count: i32, deps: ptr, noalias_count: i32, noalias_deps: ptr, no_wait: i32): [APART] "has tasks";
            /// `__kmpc_omp_taskwait`.
            fn okl_mpi_kmpc_omp_taskwait(ident: ptr, gtid: i32) -> i32: [ACQUIRES, APART] "has tasks";
            /// `__kmpc_omp_taskyield`.
            fn okl_mpi_kmpc_omp_taskyield(ident: ptr, gtid: i32, end_part: i32) -> i32: [YIELDS, APART] "has tasks";
            /// `__kmpc_taskgroup`.
            fn okl_mpi_kmpc_taskgroup(ident: ptr, gtid: i32): [APART] "has tasks";
            /// `__kmpc_end_taskgroup`.
            fn okl_mpi_kmpc_end_taskgroup(ident: ptr, gtid: i32): [ACQUIRES, APART] "has tasks";
            /// `__kmpc_taskloop`.
            fn okl_mpi_kmpc_taskloop(ident: ptr, gtid: i32, task: ptr, if_value: i32, lower: ptr, upper: ptr, stride: i64, no_group: i32, schedule: i32, grain_size: i64, duplicate: ptr): [APART] "has tasks";
            /// `__kmpc_taskloop_5`.
            fn okl_mpi_kmpc_taskloop_5(ident: ptr, gtid: i32, task: ptr, if_value: i32, lower: ptr, upper: ptr, stride: i64, no_group: i32, schedule: i32, grain_size: i64, modifier: i32, duplicate: ptr): [APART] "has tasks";
            /// `__kmpc_taskred_init`.
            fn okl_mpi_kmpc_taskred_init(gtid: i32, items: i32, data: ptr) -> ptr: [APART] "has tasks";
            /// `__kmpc_taskred_modifier_init`.
            fn okl_mpi_kmpc_taskred_modifier_init(ident: ptr, gtid: i32, worksharing: i32, items: i32, data: ptr) -> ptr: [APART] "has tasks";
            /// `__kmpc_task_reduction_get_th_data`.
            fn okl_mpi_kmpc_task_reduction_get_th_data(gtid: i32, group: ptr, item: ptr) -> ptr: [APART] "has tasks";
            /// `__kmpc_task_reduction_modifier_fini`.
            fn okl_mpi_kmpc_task_reduction_modifier_fini(ident: ptr, gtid: i32, worksharing: i32): [APART] "has tasks";
            /// `__kmpc_omp_reg_task_with_affinity`.
            fn okl_mpi_kmpc_omp_reg_task_with_affinity(ident: ptr, gtid: i32, task: ptr, count: i32, list: ptr) -> i32: [APART] "has tasks";
            /// `__kmpc_task_allow_completion_event`.
            fn okl_mpi_kmpc_task_allow_completion_event(ident: ptr, gtid: i32, task: ptr) -> ptr: [APART] "has tasks";

            // Atomic accesses, replacing the IR instructions: `size` is 1, 2, 4 or 8 bytes, values are zero-extended.
            // They order nothing but the accesses to the one object.
            /// Atomic load.
            fn okl_mpi_atomic_load(address: ptr, size: i32) -> i64: [ATOMIC, UNPLAIN] "has an atomic access";
            /// Atomic store.
            fn okl_mpi_atomic_store(address: ptr, value: i64, size: i32): [ATOMIC, UNPLAIN] "has an atomic access";
            /// Returns the old value; `operation` is a `AtomicOp`.
            fn okl_mpi_atomic_rmw(address: ptr, operation: i32, value: i64, size: i32) -> i64: [ATOMIC, UNPLAIN] "has an atomic access";
            /// The same where nobody needs the old value: it may be carried out later, but before this thread
            /// synchronises with others.
            fn okl_mpi_atomic_update(address: ptr, operation: i32, value: i64, size: i32): [ATOMIC, UPDATES, UNPLAIN] "has an atomic access";
            /// Returns the old value; equal to `expected` where the exchange took place.
            fn okl_mpi_atomic_cmpxchg(address: ptr, expected: i64, desired: i64, size: i32) -> i64: [ATOMIC, UNPLAIN] "has an atomic access";
            /// Before an access with release ordering: others that acquire see what this thread wrote.
            fn okl_mpi_atomic_release(): [ATOMIC, UNPLAIN] "has an atomic access";
            /// After an access with acquire ordering: sees what others wrote before they released.
            fn okl_mpi_atomic_acquire(): [ATOMIC, UNPLAIN] "has an atomic access";
            // Accesses to flags: objects that threads only load and store, to wait for each other. `size` and values are as
            // above, and all accesses to one are such.
            /// Loads a flag, and acquires: sees what a thread wrote before it stored what is found.
            fn okl_mpi_flag_load(address: ptr, size: i32) -> i64: [ATOMIC, UNPLAIN] "waits for a flag";
            /// Releases what this thread wrote, and stores a flag.
            fn okl_mpi_flag_store(address: ptr, value: i64, size: i32): [ATOMIC, UNPLAIN] "sets a flag";
            /// `__atomic_load`: any size, through memory.
            fn okl_mpi_atomic_load_n(size: i64, address: ptr, result: ptr, order: i32): [ATOMIC, UNPLAIN] "has an atomic access";
            /// `__atomic_store`: any size, through memory.
            fn okl_mpi_atomic_store_n(size: i64, address: ptr, value: ptr, order: i32): [ATOMIC, UNPLAIN] "has an atomic access";
            /// `__atomic_exchange`: any size, through memory.
            fn okl_mpi_atomic_exchange_n(size: i64, address: ptr, value: ptr, result: ptr, order: i32): [ATOMIC, UNPLAIN] "has an atomic access";
            /// `__atomic_compare_exchange`: any size, through memory.
            fn okl_mpi_atomic_compare_exchange_n(size: i64, address: ptr, expected: ptr, desired: ptr, success: i32, failure: i32) -> i32: [ATOMIC, UNPLAIN] "has an atomic access";

            // The user's API (OpenMP 5.2, chapter 18).
            /// `omp_set_num_threads`.
            fn okl_mpi_omp_set_num_threads(threads: i32): [ASKS, APART];
            /// `omp_get_num_threads`.
            fn okl_mpi_omp_get_num_threads() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_max_threads`.
            fn okl_mpi_omp_get_max_threads() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_thread_num`.
            fn okl_mpi_omp_get_thread_num() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_num_procs`.
            fn okl_mpi_omp_get_num_procs() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_in_parallel`.
            fn okl_mpi_omp_in_parallel() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_dynamic`.
            fn okl_mpi_omp_get_dynamic() -> i32: [QUIET, ASKS];
            /// `omp_get_cancellation`.
            fn okl_mpi_omp_get_cancellation() -> i32: [QUIET, ASKS];
            /// `omp_get_nested`.
            fn okl_mpi_omp_get_nested() -> i32: [QUIET, ASKS];
            /// `omp_get_thread_limit`.
            fn okl_mpi_omp_get_thread_limit() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_supported_active_levels`.
            fn okl_mpi_omp_get_supported_active_levels() -> i32: [QUIET, ASKS];
            /// `omp_get_max_active_levels`.
            fn okl_mpi_omp_get_max_active_levels() -> i32: [QUIET, ASKS];
            /// `omp_get_level`.
            fn okl_mpi_omp_get_level() -> i32: [QUIET, ASKS, ANSWERS];
            /// `omp_get_active_level`.
            fn okl_mpi_omp_get_active_level() -> i32: [QUIET, ASKS];
            /// `omp_in_final`.
            fn okl_mpi_omp_in_final() -> i32: [QUIET, ASKS];
            /// `omp_in_explicit_task`.
            fn okl_mpi_omp_in_explicit_task() -> i32: [QUIET, ASKS];
            /// `omp_get_proc_bind`.
            fn okl_mpi_omp_get_proc_bind() -> i32: [QUIET, ASKS];
            /// `omp_get_num_places`.
            fn okl_mpi_omp_get_num_places() -> i32: [QUIET, ASKS];
            /// `omp_get_place_num`.
            fn okl_mpi_omp_get_place_num() -> i32: [QUIET, ASKS];
            /// `omp_get_partition_num_places`.
            fn okl_mpi_omp_get_partition_num_places() -> i32: [QUIET, ASKS];
            /// `omp_get_default_device`.
            fn okl_mpi_omp_get_default_device() -> i32: [QUIET, ASKS];
            /// `omp_get_num_devices`.
            fn okl_mpi_omp_get_num_devices() -> i32: [QUIET, ASKS];
            /// `omp_get_device_num`.
            fn okl_mpi_omp_get_device_num() -> i32: [QUIET, ASKS];
            /// `omp_get_num_teams`.
            fn okl_mpi_omp_get_num_teams() -> i32: [QUIET, ASKS];
            /// `omp_get_team_num`.
            fn okl_mpi_omp_get_team_num() -> i32: [QUIET, ASKS];
            /// `omp_get_max_teams`.
            fn okl_mpi_omp_get_max_teams() -> i32: [QUIET, ASKS];
            /// `omp_get_teams_thread_limit`.
            fn okl_mpi_omp_get_teams_thread_limit() -> i32: [QUIET, ASKS];
            /// `omp_is_initial_device`.
            fn okl_mpi_omp_is_initial_device() -> i32: [QUIET];
            /// `omp_get_initial_device`.
            fn okl_mpi_omp_get_initial_device() -> i32: [QUIET, ASKS];
            /// `omp_get_max_task_priority`.
            fn okl_mpi_omp_get_max_task_priority() -> i32: [QUIET, ASKS];
            /// `omp_set_dynamic`.
            fn okl_mpi_omp_set_dynamic(dynamic: i32): [APART];
            /// `omp_set_nested`.
            fn okl_mpi_omp_set_nested(nested: i32): [APART];
            /// `omp_set_schedule`.
            fn okl_mpi_omp_set_schedule(kind: i32, chunk: i32): [APART];
            /// `omp_get_schedule`.
            fn okl_mpi_omp_get_schedule(kind: ptr, chunk: ptr): [QUIET, ASKS];
            /// `omp_set_max_active_levels`.
            fn okl_mpi_omp_set_max_active_levels(levels: i32): [APART];
            /// `omp_get_ancestor_thread_num`.
            fn okl_mpi_omp_get_ancestor_thread_num(level: i32) -> i32: [QUIET, ASKS];
            /// `omp_get_team_size`.
            fn okl_mpi_omp_get_team_size(level: i32) -> i32: [QUIET, ASKS];
            /// `omp_get_place_num_procs`.
            fn okl_mpi_omp_get_place_num_procs(place: i32) -> i32: [QUIET, ASKS];
            /// `omp_get_place_proc_ids`.
            fn okl_mpi_omp_get_place_proc_ids(place: i32, ids: ptr): [QUIET, ASKS];
            /// `omp_get_partition_place_nums`.
            fn okl_mpi_omp_get_partition_place_nums(nums: ptr): [QUIET, ASKS];
            /// `omp_set_affinity_format`.
            fn okl_mpi_omp_set_affinity_format(format: ptr): [APART];
            /// `omp_get_affinity_format`.
            fn okl_mpi_omp_get_affinity_format(buffer: ptr, size: i64) -> i64: [QUIET, ASKS];
            /// `omp_display_affinity`.
            fn okl_mpi_omp_display_affinity(format: ptr): [APART];
            /// `omp_capture_affinity`.
            fn okl_mpi_omp_capture_affinity(buffer: ptr, size: i64, format: ptr) -> i64: [APART];
            /// `omp_display_env`.
            fn okl_mpi_omp_display_env(verbose: i32): [APART];
            /// `omp_set_default_device`.
            fn okl_mpi_omp_set_default_device(device: i32): [APART];
            /// `omp_set_num_teams`.
            fn okl_mpi_omp_set_num_teams(teams: i32): [APART];
            /// `omp_set_teams_thread_limit`.
            fn okl_mpi_omp_set_teams_thread_limit(limit: i32): [APART];
            /// `omp_pause_resource`.
            fn okl_mpi_omp_pause_resource(kind: i32, device: i32) -> i32: [APART];
            /// `omp_pause_resource_all`.
            fn okl_mpi_omp_pause_resource_all(kind: i32) -> i32: [APART];
            /// `omp_get_wtime`.
            fn okl_mpi_omp_get_wtime() -> f64: [QUIET, ASKS];
            /// `omp_get_wtick`.
            fn okl_mpi_omp_get_wtick() -> f64: [QUIET, ASKS];
            /// `omp_init_lock`.
            fn okl_mpi_omp_init_lock(lock: ptr): [APART];
            /// `omp_init_lock_with_hint`.
            fn okl_mpi_omp_init_lock_with_hint(lock: ptr, hint: i32): [APART];
            /// `omp_destroy_lock`.
            fn okl_mpi_omp_destroy_lock(lock: ptr): [APART];
            /// `omp_set_lock`.
            fn okl_mpi_omp_set_lock(lock: ptr): [ACQUIRES, ORDERS, APART] "takes a lock";
            /// `omp_unset_lock`.
            fn okl_mpi_omp_unset_lock(lock: ptr): [ORDERS, APART] "takes a lock";
            /// `omp_test_lock`.
            fn okl_mpi_omp_test_lock(lock: ptr) -> i32: [ACQUIRES, ORDERS, APART] "takes a lock";
            /// `omp_init_nest_lock`.
            fn okl_mpi_omp_init_nest_lock(lock: ptr): [APART];
            /// `omp_init_nest_lock_with_hint`.
            fn okl_mpi_omp_init_nest_lock_with_hint(lock: ptr, hint: i32): [APART];
            /// `omp_destroy_nest_lock`.
            fn okl_mpi_omp_destroy_nest_lock(lock: ptr): [APART];
            /// `omp_set_nest_lock`.
            fn okl_mpi_omp_set_nest_lock(lock: ptr): [ACQUIRES, ORDERS, APART] "takes a lock";
            /// `omp_unset_nest_lock`.
            fn okl_mpi_omp_unset_nest_lock(lock: ptr): [ORDERS, APART] "takes a lock";
            /// `omp_test_nest_lock`.
            fn okl_mpi_omp_test_nest_lock(lock: ptr) -> i32: [ACQUIRES, APART] "takes a lock";
            /// `omp_fulfill_event`.
            fn okl_mpi_omp_fulfill_event(event: i64): [APART];

            // Memory allocators.
            /// `__kmpc_alloc`.
            fn okl_mpi_kmpc_alloc(gtid: i32, size: i64, allocator: ptr) -> ptr: [APART];
            /// `__kmpc_aligned_alloc`.
            fn okl_mpi_kmpc_aligned_alloc(gtid: i32, align: i64, size: i64, allocator: ptr) -> ptr: [APART];
            /// `__kmpc_free`.
            fn okl_mpi_kmpc_free(gtid: i32, pointer: ptr, allocator: ptr): [APART];
            /// `omp_init_allocator`.
            fn okl_mpi_omp_init_allocator(space: i64, count: i32, traits: ptr) -> i64: [APART];
            /// `omp_destroy_allocator`.
            fn okl_mpi_omp_destroy_allocator(allocator: i64): [APART];
            /// `omp_set_default_allocator`.
            fn okl_mpi_omp_set_default_allocator(allocator: i64): [APART];
            /// `omp_get_default_allocator`.
            fn okl_mpi_omp_get_default_allocator() -> i64: [QUIET, ASKS];
            /// `omp_alloc`.
            fn okl_mpi_omp_alloc(size: i64, allocator: i64) -> ptr: [APART];
            /// `omp_aligned_alloc`.
            fn okl_mpi_omp_aligned_alloc(align: i64, size: i64, allocator: i64) -> ptr: [APART];
            /// `omp_calloc`.
            fn okl_mpi_omp_calloc(count: i64, size: i64, allocator: i64) -> ptr: [APART];
            /// `omp_aligned_calloc`.
            fn okl_mpi_omp_aligned_calloc(align: i64, count: i64, size: i64, allocator: i64) -> ptr: [APART];
            /// `omp_realloc`.
            fn okl_mpi_omp_realloc(pointer: ptr, size: i64, allocator: i64, free_allocator: i64) -> ptr: [APART];
            /// `omp_free`.
            fn okl_mpi_omp_free(pointer: ptr, allocator: i64): [APART];
        }
    };
}

/// Expands a list of functions into constants.
macro_rules! function_table {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $type:ident),*) $(-> $ret:ident)? : [$($effect:ident),*] $($words:literal)?;)*) => {
        /// One constant for each runtime function: a call site that names a missing one does not
        /// compile.
        #[allow(non_upper_case_globals)]
        pub mod f {
            use $crate::{Effects, RuntimeFn};
            $($(#[$doc])*
            pub const $name: RuntimeFn = RuntimeFn {
                name: stringify!($name),
                params: &[$(crate::abi_type!($type)),*],
                param_names: &[$(stringify!($param)),*],
                ret: crate::abi_type!($($ret)?),
                effects: Effects::NONE$(.and(Effects::$effect))*,
                words: crate::words!($($words)?),
            };)*
        }

        /// Every function of the list.
        pub static ALL: &[&$crate::RuntimeFn] = &[$(&f::$name),*];

        #[allow(dead_code, reason = "not every list is hashed")]
        pub(crate) const TEXT: &str = concat!(
            $(stringify!($name), "(", $(stringify!($type), ",",)* ")", $(stringify!($ret),)? ";"),*
        );
    };
}

for_each_mpi_fn!(function_table);
pub(crate) use function_table;
