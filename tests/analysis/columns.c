// Rows behind pointers of which a thread accesses a few columns: every row's, whatever the distance between rows. Where one
// loop changes both the row and the column, all of these may be accessed behind all of those.
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

// CHECK-DAG: columns.c:[[@LINE+2]]:1: remark: region declares all its accesses (2 sections)
void clear_some(double **w, int rows, int columns) {
#pragma omp parallel for
  for (int j = 0; j < columns; j++)
    for (int k = 0; k < rows; k++) w[j + k][j] = 0;
}
