// Rows behind pointers of which a thread accesses a few columns: every row's, whatever the distance between rows. Not so where
// one loop changes both the row and the column.
// RUN: clang-22 -O2 -g1 -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: columns.c:[[@LINE+2]]:1: remark: region declares all its accesses ({{[45]}} sections)
void multiply(double **w, const double *x, double *y, int rows, int columns) {
#pragma omp parallel for
  for (int j = 0; j < columns; j++) {
    double sum = 0;
    for (int k = 0; k < rows; k++) sum += w[k][j] * x[k];
    y[j] = sum;
  }
}

// CHECK-DAG: columns.c:[[@LINE+2]]:1: remark: region declares all its accesses (2 sections)
void clear(double **w, int rows, int columns) {
#pragma omp parallel for
  for (int j = 0; j < columns; j++)
    for (int k = 0; k < rows; k++) w[k][j] = 0;
}

// CHECK-DAG: columns.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it writes to an object that is not known
void clear_some(double **w, int rows, int columns) {
#pragma omp parallel for
  for (int j = 0; j < columns; j++)
    for (int k = 0; k < rows; k++) w[j + k][j] = 0;
}

// Whether the inner loop is entered is asked in front of both: the number of rows holds then.
// CHECK-DAG: columns.c:[[@LINE+2]]:1: remark: region declares all its accesses (4 sections)
void add(double **w, double *sums, int rows, int columns) {
#pragma omp parallel for
  for (int t = 0; t < 100; t++)
    for (int j = 1; j < columns - 2; j++)
      for (int k = 0; k < rows; k++) sums[t] += w[k][j];
}

// That depends on a loop around it: with few columns there would be thousands of millions of them.
// CHECK-DAG: columns.c:[[@LINE+3]]:1: remark: region declares its accesses ({{[0-9]+}} sections), but for some reads [-Rpass=okl]
// CHECK-DAG: columns.c:[[@LINE+6]]:{{[0-9]+}}: remark: pages are fetched as this reads them, and the region's other accesses are declared: it reads from an object that is not known before the loop [-Rpass-missed=okl]
void add_triangle(double **w, double *sums, int rows, int columns, int corner) {
#pragma omp parallel for
  for (int t = 0; t < 100; t++)
    for (int i = 0; i < corner; i++)
      for (int j = i; j < columns - 2; j++)
        for (int k = 0; k < rows; k++) sums[t] += w[k][j];
}
