enum { cells = 1200 };
extern double *now, *then, total;
extern int steps;
void boundary(void);
void diffuse(void);
void exchange(void);
double sum_up(void);
