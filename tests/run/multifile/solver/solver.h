// What the files of a solver know of each other.
enum { N = 192, STEPS = 20, TIMERS = 8 };

// kernels.c
extern double grid[N][N], next[N][N], force[N][N];
double sweep(void);
void flux(int step);
void load(double amount);

// common.c
void timer_start(int number);
void timer_stop(int number);
int timers_ran(void);
double randlc(double *seed, double factor);
double limiter(double slope);
void cross(double out[3], const double a[3], const double b[3]);
void bail_out(const char *where, double value, int step);
void note(const char *format, ...);
