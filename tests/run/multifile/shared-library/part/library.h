extern double library_table[50];
extern int library_regions;
void library_fill(double *values, int n);
void library_orphan(double *values, int n);
void library_each(double *values, int n, void (*f)(double *, int));
double *library_block(int n);
void library_free(double *block);
