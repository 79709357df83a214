//! What is known of functions in the C and C++ libraries.
//!
//! A function that is not listed is unknown: the runtime learns of it as a callee, and the pointers
//! it is given are made present first. The lists state two facts: what goes wrong if
//! threads that are in several processes call the function as if they were in one, and whether the function hands
//! its pointers to the kernel, which cannot wait for memory that is elsewhere. What follows from it, a lowering says.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::llvm::Call;

/// What goes wrong if threads in several processes call a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// It keeps state that the threads of one process share.
    HiddenState,
    /// It works on the stream in this argument; the standard output streams are safe.
    Stream(usize),
    /// It reads the standard input.
    Input,
    /// It opens or closes streams or descriptors, or works on a descriptor.
    Descriptor,
    /// It orders or signals the threads of one process.
    Process,
    /// It leaves frames behind.
    Jump,
    /// It starts threads or processes of the program's own.
    Threads,
}

/// What is known of one function.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What goes wrong if threads in several processes call it.
    pub effect: Effect,
    /// Whether its pointers reach the kernel.
    pub enters_kernel: bool,
}

impl Effect {
    /// The end of a sentence that begins with "it": what a caller of `name` does.
    pub fn reason(self, name: &str) -> String {
        if let Some((_, _, reason)) = fortran(name) {
            return reason.to_string();
        }
        let name = crate::llvm::demangle(plain(name));
        match self {
            Effect::None => format!("calls {name}"),
            Effect::HiddenState => format!("calls {name}, which keeps state in the C library"),
            Effect::Stream(_) | Effect::Descriptor => {
                format!("calls {name} on a file that is open in one process only")
            }
            Effect::Input => format!("calls {name}, which reads the standard input"),
            Effect::Process | Effect::Threads => {
                format!("calls {name}, which works inside one process only")
            }
            Effect::Jump => format!("calls {name}, which leaves the region's frames"),
        }
    }
}

const KERNEL: bool = true;
const USER: bool = false;

#[rustfmt::skip]
const FUNCTIONS: &[(Effect, bool, &str)] = &[
    // Memory and text.
    (Effect::None, USER, "memcpy memmove memset memcmp memchr memrchr memmem mempcpy memccpy bcopy bzero bcmp
        strlen strnlen strcpy strncpy stpcpy stpncpy strcat strncat strcmp strncmp strcasecmp strncasecmp
        strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strsep strtok_r strdup strndup
        strcoll strxfrm strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax strtoq
        strtouq strftime strptime strverscmp index rindex ffs ffsl ffsll strerror_r
        wcslen wcscpy wcsncpy wcscat wcscmp wcsncmp wcschr wcsrchr wcsstr wcstol wcstod wmemcpy wmemset
        wmemmove wmemcmp mbstowcs wcstombs mbtowc wctomb btowc wctob mbrtowc wcrtomb swprintf
        isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
        tolower toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location"),
    // Memory allocation, which the runtime interposes; sorting; the end of the program.
    (Effect::None, USER, "malloc calloc realloc free posix_memalign aligned_alloc memalign valloc pvalloc
        reallocarray malloc_usable_size alloca qsort qsort_r bsearch abs labs llabs div ldiv lldiv imaxabs
        atoi atol atoll atof rand_r random_r drand48_r exit _Exit _exit abort quick_exit __assert_fail
        __assert __stack_chk_fail __chk_fail setjmp _setjmp sigsetjmp __sigsetjmp"),
    (Effect::None, USER, NEW_AND_DELETE),
    // Formatted output to the standard output or to memory, and input from memory.
    (Effect::None, USER, "printf vprintf puts putchar putchar_unlocked perror sprintf snprintf vsprintf vsnprintf
        asprintf vasprintf sscanf vsscanf wprintf vwprintf putwchar"),
    // The environment, which is the same in all processes, and output to streams, which the first process writes where the
    // stream is one of its own.
    (Effect::None, USER, "getenv secure_getenv fprintf vfprintf fputs fputs_unlocked fputc fputc_unlocked putc
        putc_unlocked _IO_putc fwrite fwrite_unlocked fflush fflush_unlocked"),
    // Time and identity.
    (Effect::None, KERNEL, "time clock clock_gettime clock_getres gettimeofday times ftime mktime timegm difftime
        gmtime_r localtime_r asctime_r ctime_r nanosleep usleep sleep sched_yield sched_getcpu
        sched_getaffinity getpid getppid gettid getuid gethostname uname getrusage sysinfo sysconf getpagesize get_nprocs getloadavg
        getrandom getentropy posix_madvise madvise timespec_get pthread_equal"),
    // libm and the compiler's own runtime.
    (Effect::None, USER, "sincos nan drem significand gamma scalb exp10 pow10 __fpclassify __fpclassifyf __isnan
        __isnanf __isinf __isinff __finite __finitef __signbit __signbitf
        __muldc3 __mulsc3 __mulxc3 __multc3 __divdc3 __divsc3 __divxc3 __divtc3 __powidf2 __powisf2 __powixf2
        __multi3 __divti3 __udivti3 __modti3 __umodti3 __floattidf __floatuntidf __floattisf __floatuntisf
        __fixdfti __fixunsdfti __fixsfti __fixunssfti __addtf3 __subtf3 __multf3 __divtf3 __extenddftf2
        __trunctfdf2 __extendxftf2 __trunctfxf2 __letf2 __getf2 __eqtf2 __netf2 __unordtf2
        __clang_call_terminate __atomic_is_lock_free"),
    // Hidden state.
    (Effect::HiddenState, USER, "rand srand random srandom drand48 lrand48 mrand48 erand48 nrand48 jrand48 srand48
        lcong48 seed48 initstate setstate strtok localtime gmtime asctime ctime setenv
        putenv unsetenv clearenv tmpnam tempnam mktemp strerror strsignal setlocale localeconv getopt
        getopt_long getopt_long_only getpwnam getpwuid getgrnam getgrgid gethostbyname gethostbyaddr
        inet_ntoa hcreate hsearch hdestroy getdate ecvt fcvt gcvt l64a ttyname crypt getlogin ctermid cuserid
        basename dirname atexit on_exit at_quick_exit mblen readdir ptsname umask
        mbrlen tzset nl_langinfo getpass getservbyname getprotobyname getpwent getgrent getmntent ether_ntoa
        ether_aton qecvt qfcvt hcreate_r uselocale"),
    // Streams. The position of the stream among the arguments follows the bar.
    (Effect::Stream(0), USER, "fscanf vfscanf fgetc getc getc_unlocked fgetc_unlocked _IO_getc
        __overflow __uflow setbuf setvbuf setlinebuf fileno ferror feof clearerr fseek fseeko ftell ftello
        rewind fgetpos fsetpos fclose getw fwprintf fgetwc getwc flockfile funlockfile fwide"),
    (Effect::Stream(1), USER, "ungetc putw
        fputwc putwc fputws ungetwc"),
    (Effect::Stream(2), USER, "fgets fgets_unlocked getline fgetws"),
    (Effect::Stream(3), USER, "fread fread_unlocked getdelim __getdelim"),
    (Effect::Input, USER, "scanf vscanf getchar getchar_unlocked gets getwchar wscanf"),
    (Effect::Descriptor, KERNEL, "fopen fopen64 fdopen freopen freopen64 tmpfile tmpfile64 popen pclose fmemopen
        open_memstream open open64 openat openat64 creat creat64 close lseek lseek64 dup dup2 dup3 pipe pipe2
        mkstemp mkstemp64 mkdtemp mkostemp socket socketpair connect bind listen accept accept4 shutdown
        getsockname getpeername getsockopt setsockopt sendto sendmsg recvfrom recvmsg select pselect poll ppoll
        epoll_create epoll_create1 epoll_ctl epoll_wait ioctl fcntl fcntl64 fsync fdatasync truncate ftruncate
        ftruncate64 mmap mmap64 munmap mremap mprotect msync shm_open shm_unlink shmget shmat shmdt shmctl
        opendir fdopendir closedir rewinddir scandir chdir fchdir getcwd"),
    // The runtime interposes these exactly.
    (Effect::Descriptor, USER, "read write pread pwrite pread64 pwrite64 readv writev preadv pwritev send recv"),
    // One process: its threads, signals and working directory.
    (Effect::Process, KERNEL, "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_unlock
        pthread_mutex_clocklock pthread_cond_clockwait pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock
        pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_self thrd_current sem_clockwait eventfd
        timerfd_create timerfd_settime sigtimedwait sigwaitinfo sigqueue getcontext setcontext swapcontext
        makecontext brk sbrk
        pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast
        pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock
        pthread_rwlock_unlock pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_barrier_wait
        pthread_once pthread_key_create pthread_getspecific pthread_setspecific pthread_kill pthread_join
        pthread_detach pthread_exit pthread_cancel pthread_setaffinity_np pthread_atfork
        sem_init sem_open sem_wait sem_trywait sem_timedwait sem_post mtx_lock mtx_trylock mtx_timedlock
        mtx_unlock cnd_wait cnd_timedwait cnd_signal cnd_broadcast call_once tss_create tss_get tss_set
        stat fstat lstat access unlink remove rename mkdir rmdir chmod utime utimes
        utimensat readlink realpath symlink link statvfs fstatvfs signal sigaction sigprocmask pthread_sigmask sigsuspend sigwait sigaltstack raise kill alarm setitimer
        timer_create timer_settime pause wait waitpid system execv execve execvp execl execlp posix_spawn
        posix_spawnp dlopen dlsym dlclose sched_setaffinity setrlimit getrlimit syscall sigemptyset sigaddset"),
    (Effect::Jump, USER, "longjmp _longjmp siglongjmp __longjmp_chk"),
    (Effect::Threads, USER, "pthread_create thrd_create fork vfork clone"),
];

/// Families of one name with the suffixes f and l.
const MATH: &str = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10
    log1p logb ilogb pow sqrt cbrt hypot fabs floor ceil round lround llround trunc rint lrint llrint nearbyint
    roundeven fmod remainder remquo fma fmax fmin fdim erf erfc tgamma lgamma lgamma_r ldexp scalbn scalbln frexp modf
    nextafter nexttoward copysign j0 j1 jn y0 y1 yn cabs carg creal cimag conj cproj cexp clog csqrt cpow csin
    ccos ctan casin cacos catan csinh ccosh ctanh casinh cacosh catanh";

/// `operator new` and `delete`, but for those with parameters of the program's own.
const NEW_AND_DELETE: &str = "_Znwm _ZnwmRKSt9nothrow_t _ZnwmSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t
    _Znam _ZnamRKSt9nothrow_t _ZnamSt11align_val_t _ZnamSt11align_val_tRKSt9nothrow_t
    _ZdlPv _ZdlPvm _ZdlPvRKSt9nothrow_t _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t
    _ZdaPv _ZdaPvm _ZdaPvRKSt9nothrow_t _ZdaPvSt11align_val_t _ZdaPvmSt11align_val_t _ZdaPvSt11align_val_tRKSt9nothrow_t";

/// What clang calls for exceptions, local statics and casts (Itanium C++ ABI).
const CXX_RUNTIME: &str = "__cxa_allocate_exception __cxa_allocate_dependent_exception __cxa_free_exception
    __cxa_free_dependent_exception __cxa_throw __cxa_rethrow __cxa_begin_catch __cxa_end_catch __cxa_get_exception_ptr
    __cxa_current_exception_type __cxa_call_unexpected __cxa_call_terminate __cxa_bad_cast __cxa_bad_typeid
    __cxa_throw_bad_array_new_length __cxa_throw_bad_array_length __cxa_pure_virtual __cxa_deleted_virtual
    __cxa_get_globals __cxa_get_globals_fast __cxa_init_primary_exception __cxa_atexit __cxa_thread_atexit
    __clang_call_terminate _ZSt9terminatev";

/// Whether a function ends the program for an exception that may not leave where it came to; copies have names with a dot.
pub fn terminates(name: &str) -> bool {
    const ALL: [&str; 2] = ["__clang_call_terminate", "_ZSt9terminatev"];
    name.split('.')
        .next()
        .is_some_and(|name| ALL.contains(&name))
}

/// Functions that access nothing of the program's but what their arguments point to, and keep no pointer.
const OF_ARGUMENTS: &str = " time clock clock_gettime clock_getres gettimeofday times difftime timespec_get getrusage \
     sincos frexp modf remquo ldexp scalbln strlen strcmp strncmp memcmp getpid gettid sysconf get_nprocs \
     sched_getcpu usleep nanosleep sleep ";

/// Functions whose answer is about the thread that asks, or that change it for that thread.
const OF_THREAD: &str =
    " gettid sched_getcpu sched_getaffinity getrusage uselocale pthread_self thrd_current ";

/// The clock of one thread: `CLOCK_THREAD_CPUTIME_ID`.
const THREAD_CLOCK: i64 = 3;

/// Whether a function of the C library is, or may be, asked for what is of the thread that asks.
pub fn asks_for_thread(call: Call<'_>) -> bool {
    let name = call.callee_name();
    let plain = plain(&name);
    let clock = || {
        call.argument(0)
            .and_then(crate::llvm::Value::as_constant_int)
    };
    match plain {
        "clock_gettime" => clock().is_none_or(|one| one == THREAD_CLOCK),
        _ => OF_THREAD.contains(&format!(" {plain} ")),
    }
}

/// Whether a function of this name accesses nothing of the program's but what its arguments point to.
pub fn accesses_arguments_only(name: &str) -> bool {
    OF_ARGUMENTS.contains(&format!(" {} ", plain(name)))
}

/// Whether it is a function of the C++ run time that accesses nothing of the program's by itself.
pub fn is_cxx_runtime(name: &str) -> bool {
    [NEW_AND_DELETE, CXX_RUNTIME]
        .iter()
        .any(|names| names.split_whitespace().any(|one| one == name))
}

/// Prefixes of mangled names in the C++ library, the first that fits decides.
const CXX_PREFIXES: &[(&str, Effect)] = &[
    ("_ZNSt6thread15_M_start_thread", Effect::Threads),
    ("_ZNSi", Effect::None),
    ("_ZNSt13basic_filebuf", Effect::Descriptor),
    ("_ZNSt14basic_ifstream", Effect::Descriptor),
    ("_ZNSt14basic_ofstream", Effect::Descriptor),
    ("_ZNSt13basic_fstream", Effect::Descriptor),
    ("_ZNSt6thread", Effect::Process),
    ("_ZNSt18condition_variable", Effect::Process),
    ("_ZSt", Effect::None),
    ("_ZNSt", Effect::None),
    ("_ZNKSt", Effect::None),
    ("_ZNSo", Effect::None),
    ("_ZNKSo", Effect::None),
    ("_ZNSs", Effect::None),
    ("_ZNKSs", Effect::None),
    ("_ZNSa", Effect::None),
    ("_ZNSd", Effect::None),
    ("_ZN9__gnu_cxx", Effect::None),
    ("_ZNK9__gnu_cxx", Effect::None),
    ("_ZN10__cxxabiv1", Effect::None),
    ("__cxa_", Effect::None),
    ("__gxx_", Effect::None),
    ("__dynamic_cast", Effect::None),
    ("_Unwind_", Effect::None),
];

/// The functions of flang's run-time library that begin a statement which writes text to a unit, and which argument is
/// the unit: the first process writes the text.
pub const OUTPUT_STATEMENTS: [(&str, usize); 2] = [
    ("_FortranAioBeginExternalListOutput", 0),
    ("_FortranAioBeginExternalFormattedOutput", 3),
];

/// Functions of flang's run-time library that are not harmless in several processes, and what a program does in Fortran's
/// terms, as the end of a sentence that begins with "it". A prefix of a name counts; the first one that fits.
#[rustfmt::skip]
const FORTRAN: &[(&str, Effect, &str)] = &[
    ("_FortranAioBeginExternalListOutput", Effect::None, ""),
    ("_FortranAioBeginExternalFormattedOutput", Effect::None, ""),
    ("_FortranAioBeginInternal", Effect::None, ""),
    ("_FortranAioBeginFlush", Effect::None, ""),
    ("_FortranAioBeginInquireIoLength", Effect::None, ""),
    ("_FortranAioBeginExternal", Effect::Input, "reads from a unit"),
    ("_FortranAioBeginUnformattedInput", Effect::Descriptor, "reads from a unit"),
    ("_FortranAioBeginUnformattedOutput", Effect::Descriptor, "writes unformatted records to a unit"),
    ("_FortranAioBeginOpen", Effect::Descriptor, "opens a unit"),
    ("_FortranAioBeginClose", Effect::Descriptor, "closes a unit"),
    ("_FortranAioBeginInquire", Effect::Descriptor, "inquires about a unit"),
    ("_FortranAioBegin", Effect::Descriptor, "positions a unit"),
    // Not SetRecl and SetPosition.
    ("_FortranAioSetRecl", Effect::None, ""),
    ("_FortranAioSetPosition", Effect::None, ""),
    ("_FortranAioSetRec", Effect::Descriptor, "names a record of a unit"),
    ("_FortranAioSetPos", Effect::Descriptor, "names a place in a unit"),
    ("_FortranAFseek", Effect::Descriptor, "positions a unit"),
    ("_FortranAFtell", Effect::Descriptor, "inquires about a unit"),
    ("_FortranARandom", Effect::HiddenState, "calls a random number procedure, which keeps state in Fortran's library"),
    ("_FortranARand", Effect::HiddenState, "calls rand, which keeps state in Fortran's library"),
    ("_FortranAIrand", Effect::HiddenState, "calls irand, which keeps state in Fortran's library"),
    ("_FortranAGetCommand", Effect::HiddenState, "asks for the command line, which one process has"),
    ("_FortranAArgumentCount", Effect::HiddenState, "asks for the command line, which one process has"),
    ("_FortranAGetEnvVariable", Effect::HiddenState, "asks for a variable of the environment, which one process may have changed"),
    ("_FortranAPutEnv", Effect::HiddenState, "changes the environment of one process"),
    ("_FortranAGetCwd", Effect::Descriptor, "asks for the working directory of one process"),
    ("_FortranAChdir", Effect::Descriptor, "changes the working directory of one process"),
    ("_FortranAExecuteCommandLine", Effect::Process, "executes a command"),
    ("_FortranASignal", Effect::Process, "changes the signals of one process"),
    ("_FortranAUnlink", Effect::Process, "removes a file"),
    ("_FortranARename", Effect::Process, "renames a file"),
    ("_FortranAPause", Effect::Input, "waits for the standard input"),
    ("_FortranA", Effect::None, ""),
];

fn fortran(name: &str) -> Option<&'static (&'static str, Effect, &'static str)> {
    if !name.starts_with("_FortranA") {
        return None;
    }
    FORTRAN
        .iter()
        .find(|(prefix, _, _)| name.starts_with(prefix))
}

/// Whether a function is libm's, which not all programs are linked with.
pub fn is_of_libm(name: &str) -> bool {
    let is = |name: &str| MATH.split_whitespace().any(|one| one == name);
    is(name) || name.strip_suffix(['f', 'l']).is_some_and(is)
}

/// Functions of libm that access errno at most.
const MATHEMATICS: &str = " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf \
     erfc exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod hypot ilogb ldexp lgamma llrint \
     llround log log10 log1p log2 logb lrint lround nearbyint nextafter pow remainder rint round \
     scalbn sin sinh sqrt tan tanh tgamma trunc cabs abs labs llabs ";

/// Whether a function of libm accesses errno at most.
pub fn is_mathematics(name: &str) -> bool {
    let is = |name: &str| MATHEMATICS.contains(&format!(" {name} "));
    is(name) || name.strip_suffix(['f', 'l']).is_some_and(is)
}

/// Functions that write text to a stream, and those that end the program: what a program does where it finds
/// its input wrong.
const MESSAGES: &str = " printf fprintf puts putchar fputs fputc putc fwrite exit _exit _Exit abort \
     __assert_fail ";

/// Whether a function of this [plain] name writes text to a stream, or ends the program.
pub fn is_message(plain: &str) -> bool {
    MESSAGES.contains(&format!(" {plain} "))
}

/// The argument of such a function that is a stream.
pub fn stream_argument(plain: &str) -> Option<usize> {
    match plain {
        "fprintf" => Some(0),
        "fputs" | "fputc" | "putc" => Some(1),
        "fwrite" => Some(3),
        _ => None,
    }
}

/// Whether a call writes text to a stream, or ends the program, and changes nothing that its arguments point to: no
/// directive of a format asks how much has been written.
pub fn changes_stream_only(call: Call<'_>) -> bool {
    let name = call.callee_name();
    let plain = plain(&name);
    let is_defined = call
        .callee_function()
        .is_none_or(|callee| !callee.is_declaration());
    if is_defined || !is_message(plain) {
        return false;
    }
    let stream = stream_argument(plain);
    let arguments = call.arguments().into_iter().enumerate();
    let mut texts = arguments
        .filter(|&(index, one)| one.ty().is_pointer() && Some(index) != stream)
        .map(|(_, one)| one.as_text());
    let format = match plain {
        "printf" | "fprintf" => texts.next().flatten(),
        _ => Some(String::new()),
    };
    format.is_some_and(|format| !asks_for_count(&format))
}

/// Whether a format has a directive `%n`.
fn asks_for_count(format: &str) -> bool {
    // `%wf8n` is of the fastest integers.
    let format = format.replace("wf", "w");
    let mut rest = format.chars();
    while rest.any(|one| one == '%') {
        // Flags, widths and lengths come first.
        let directive = rest.find(|one| !"-+ #0123456789.*'$hlqjzZLtIw".contains(*one));
        if directive == Some('n') {
            return true;
        }
    }
    false
}

/// Whether a function of the C library calls one it is given.
pub fn calls_back(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "qsort",
        "qsort_r",
        "bsearch",
        "atexit",
        "on_exit",
        "at_quick_exit",
        "scandir",
    ];
    NAMES.contains(&name)
}

/// What is known of the external function `name`.
pub fn known(name: &str) -> Option<Known> {
    if let Some((_, effect, _)) = fortran(name) {
        return Some(Known {
            effect: *effect,
            enters_kernel: false,
        });
    }
    let by_prefix = |(prefix, effect): &(&str, Effect)| {
        name.starts_with(prefix).then_some(Known {
            effect: *effect,
            enters_kernel: false,
        })
    };
    let table = table();
    table
        .get(name)
        .or_else(|| table.get(plain(name)))
        .copied()
        .or_else(|| CXX_PREFIXES.iter().find_map(by_prefix))
}

/// Whether an external variable belongs to the C or C++ library, of which every process has its own.
pub fn is_library_variable(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "stdin",
        "stdout",
        "stderr",
        "environ",
        "__dso_handle",
        "__libc_single_threaded",
    ];
    const PREFIXES: [&str; 7] = [
        "_ZSt",
        "_ZNSt",
        "_ZTV",
        "_ZTI",
        "_ZTS",
        "_ZTT",
        "_ZN10__cxxabiv1",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The name without what glibc's headers add to it: `__isoc99_sscanf`, `__printf_chk`.
pub fn plain(name: &str) -> &str {
    if let Some(rest) = name
        .strip_prefix("__isoc99_")
        .or(name.strip_prefix("__isoc23_"))
    {
        return rest;
    }
    name.strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("_chk"))
        .unwrap_or(name)
}

fn table() -> &'static HashMap<String, Known> {
    static TABLE: OnceLock<HashMap<String, Known>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = HashMap::new();
        for &(effect, enters_kernel, names) in FUNCTIONS {
            for name in names.split_whitespace() {
                table.insert(
                    name.to_string(),
                    Known {
                        effect,
                        enters_kernel,
                    },
                );
            }
        }
        for name in MATH.split_whitespace() {
            for suffix in ["", "f", "l"] {
                table.insert(
                    format!("{name}{suffix}"),
                    Known {
                        effect: Effect::None,
                        enters_kernel: false,
                    },
                );
            }
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_ask_for_counts_whatever_the_length() {
        for format in [
            "%n",
            "a %d%n",
            "%5$hhn",
            "%Zn",
            "%w32n",
            "%wf8n",
            "%*.*d%-08lln",
        ] {
            assert!(asks_for_count(format), "{format}");
        }
        for format in ["", "n", "%d n", "%%n", "%wf8dn", "100% of %d, none"] {
            assert!(!asks_for_count(format), "{format}");
        }
    }
}
