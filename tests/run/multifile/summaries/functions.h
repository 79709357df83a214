enum { N = 3000, SMALL = 64 };
struct node {
  double *values;
  struct node *next;
};
struct view {
  double *values;
  int count;
};
extern double shared_values[N], log_of[N], changed_by[N];
extern double weights[SMALL];

// Which are known, and which are not.
double curve(double x);
double fibonacci(int n);
double table_at(int i);
void scale(double *value);
void turn(double out[3], const double in[3]);
void change_large(int i, double by);
double large_at(int i);
double sum_list(struct node *list);
void remember(double *values);
void through_remembered(int i);
double apply(double (*function)(double), double x);
double (*choose(int which))(double);
void poke(long address, double value);
void store_all(int count, ...);
void put(struct view view, int i, double value);
double next_random(void);
double shape(double x, int i);
void add_critical(int i);
void add_atomic(int i);
void meet(void);
double *made(int count);
int call_count(void);
double private_sum(double more);
void change_weights(int i, double by);
void deep(int depth, int i);
void fill(double *values, int count, double with);
double even(int n), odd(int n);
