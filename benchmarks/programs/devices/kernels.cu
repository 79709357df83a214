// The kernels of kernels.okl and openmp.cpp as CUDA C++, written by hand.

#define BLOCK 256
#define TILE 16
#define SIDE 32
#define ROWS 8

extern "C" {

__global__ void __launch_bounds__(BLOCK) saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void __launch_bounds__(TILE *TILE) stencil(int n, const float *__restrict__ u, float *__restrict__ v) {
  __shared__ float s[TILE + 2][TILE + 2];
  int x = threadIdx.x, y = threadIdx.y;
  int at = (blockIdx.y * TILE + y + 1) * (n + 2) + blockIdx.x * TILE + x + 1;
  s[y + 1][x + 1] = u[at];
  if (y == 0) s[0][x + 1] = u[at - (n + 2)];
  if (y == TILE - 1) s[TILE + 1][x + 1] = u[at + (n + 2)];
  if (x == 0) s[y + 1][0] = u[at - 1];
  if (x == TILE - 1) s[y + 1][TILE + 1] = u[at + 1];
  __syncthreads();
  v[at] = 0.5f * s[y + 1][x + 1] + 0.125f * ((s[y + 1][x] + s[y + 1][x + 2]) + (s[y][x + 1] + s[y + 2][x + 1]));
}

__global__ void __launch_bounds__(BLOCK) reduction(int n, const float *__restrict__ a, float *__restrict__ sums) {
  __shared__ float s[BLOCK];
  int item = threadIdx.x;
  int i = blockIdx.x * BLOCK + item;
  s[item] = i < n ? a[i] : 0.0f;
  __syncthreads();
  for (int alive = BLOCK / 2; 0 < alive; alive /= 2) {
    if (item < alive) s[item] += s[item + alive];
    __syncthreads();
  }
  if (item == 0) sums[blockIdx.x] = s[0];
}

__global__ void __launch_bounds__(TILE *TILE)
    product(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
  __shared__ float sa[TILE][TILE], sb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += TILE) {
    sa[y][x] = a[row * n + t + x];
    sb[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += sa[y][k] * sb[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void __launch_bounds__(BLOCK)
    edges(int n, const int *__restrict__ ends, const double *__restrict__ value, double *__restrict__ sums) {
  int e = blockIdx.x * BLOCK + threadIdx.x;
  if (e >= n) return;
  int a = ends[2 * e], b = ends[2 * e + 1];
  double flux = 0.5 * (value[a] - value[b]);
  atomicAdd(&sums[a], -flux);
  atomicAdd(&sums[b], flux);
}

__global__ void __launch_bounds__(BLOCK) polynomial(int n, const double *__restrict__ x, double *__restrict__ y) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  double t = x[i];
  double sum = 1.0;
  for (int k = 24; k > 0; --k) sum = sum * t / 3.0 + k;
  y[i] = sqrt(sum) + fabs(t);
}

__global__ void __launch_bounds__(BLOCK) functions(int n, const double *__restrict__ x, double *__restrict__ y) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = exp(-x[i]) * sin(x[i]) + log(1.0 + x[i]);
}

__global__ void __launch_bounds__(SIDE *ROWS) transpose(int n, const float *__restrict__ a, float *__restrict__ b) {
  __shared__ float s[SIDE][SIDE + 1];
  int x = threadIdx.x, y = threadIdx.y, bx = blockIdx.x * SIDE, by = blockIdx.y * SIDE;
  for (int row = 0; row < SIDE; row += ROWS) s[y + row][x] = a[(by + y + row) * n + bx + x];
  __syncthreads();
  for (int row = 0; row < SIDE; row += ROWS) b[(bx + y + row) * n + by + x] = s[x][y + row];
}

__global__ void __launch_bounds__(BLOCK)
    sparse(int rows, const int *__restrict__ first, const int *__restrict__ column, const double *__restrict__ value,
           const double *__restrict__ x, double *__restrict__ y) {
  int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  for (int at = first[row]; at < first[row + 1]; ++at) sum += value[at] * x[column[at]];
  y[row] = sum;
}

__global__ void __launch_bounds__(SIDE *ROWS) wave(int n, float c, const float *__restrict__ now, float *__restrict__ next) {
  int x = threadIdx.x, y = blockIdx.x * ROWS + threadIdx.y, z = blockIdx.y;
  int pitch = SIDE + 2, slice = (n + 2) * pitch;
  int at = (z + 1) * slice + (y + 1) * pitch + x + 1;
  float around = now[at - 1] + now[at + 1] + now[at - pitch] + now[at + pitch] + now[at - slice] + now[at + slice];
  next[at] = 2.0f * now[at] - next[at] + c * (around - 6.0f * now[at]);
}

__global__ void __launch_bounds__(SIDE *ROWS) sweep(int n, const double *__restrict__ now, double *__restrict__ next) {
  int x = blockIdx.x * SIDE + threadIdx.x + 1, y = blockIdx.y * ROWS + threadIdx.y + 1;
  if (x > n || y > n) return;
  int at = y * (n + 2) + x;
  next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - n - 2] + now[at + n + 2]);
}

__global__ void __launch_bounds__(BLOCK)
    distance(int n, const double *__restrict__ now, const double *__restrict__ next, double *__restrict__ result) {
  __shared__ double part[BLOCK / 32];
  double sum = 0.0;
  for (int at = blockIdx.x * BLOCK + threadIdx.x; at < n; at += gridDim.x * BLOCK) {
    double by = next[at] - now[at];
    sum += by * by;
  }
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < BLOCK / 32) {
    sum = part[threadIdx.x];
    for (int half = BLOCK / 64; half > 0; half /= 2) sum += __shfl_down_sync(0xff, sum, half);
    if (threadIdx.x == 0) atomicAdd(result, sum);
  }
}
__global__ void __launch_bounds__(SIDE *ROWS) rows(int n, const double *__restrict__ now, double *__restrict__ next) {
  int x = blockIdx.x * SIDE + threadIdx.x + 1, y = blockIdx.y * ROWS + threadIdx.y + 1;
  if (x > n || y > n) return;
  int at = y * (n + 2) + x;
  next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - n - 2] + now[at + n + 2]);
}

__global__ void __launch_bounds__(SIDE *ROWS) cube(int n, const double *__restrict__ now, double *__restrict__ next) {
  int x = blockIdx.x * SIDE + threadIdx.x + 1, y = blockIdx.y * ROWS + threadIdx.y + 1, z = blockIdx.z + 1;
  if (x > n || y > n) return;
  int pitch = n + 2, slice = pitch * pitch;
  int at = z * slice + y * pitch + x;
  double around = now[at - 1] + now[at + 1] + now[at - pitch] + now[at + pitch] + now[at - slice] + now[at + slice];
  next[at] = now[at] + 0.1 * (around - 6.0 * now[at]);
}

__global__ void __launch_bounds__(BLOCK)
    moments(int n, const double *__restrict__ x, const double *__restrict__ y, double *__restrict__ result) {
  __shared__ double part[3][BLOCK / 32];
  double first = 0.0, second = 0.0, third = 0.0;
  for (int at = blockIdx.x * BLOCK + threadIdx.x; at < n; at += gridDim.x * BLOCK) {
    first += x[at];
    second += x[at] * x[at];
    third += x[at] * y[at];
  }
  for (int half = 16; half > 0; half /= 2) {
    first += __shfl_down_sync(0xffffffff, first, half);
    second += __shfl_down_sync(0xffffffff, second, half);
    third += __shfl_down_sync(0xffffffff, third, half);
  }
  if (threadIdx.x % 32 == 0) {
    part[0][threadIdx.x / 32] = first;
    part[1][threadIdx.x / 32] = second;
    part[2][threadIdx.x / 32] = third;
  }
  __syncthreads();
  if (threadIdx.x < BLOCK / 32) {
    first = part[0][threadIdx.x];
    second = part[1][threadIdx.x];
    third = part[2][threadIdx.x];
    for (int half = BLOCK / 64; half > 0; half /= 2) {
      first += __shfl_down_sync(0xff, first, half);
      second += __shfl_down_sync(0xff, second, half);
      third += __shfl_down_sync(0xff, third, half);
    }
    if (threadIdx.x == 0) {
      atomicAdd(result, first);
      atomicAdd(result + 1, second);
      atomicAdd(result + 2, third);
    }
  }
}

// There is no atomic instruction for these: blocks leave their results, which the host goes through.
__global__ void __launch_bounds__(BLOCK) extremes(int n, const double *__restrict__ x, double *__restrict__ results) {
  __shared__ double part[2][BLOCK / 32];
  double least = x[0], most = least;
  for (int at = blockIdx.x * BLOCK + threadIdx.x; at < n; at += gridDim.x * BLOCK) {
    least = x[at] < least ? x[at] : least;
    most = x[at] > most ? x[at] : most;
  }
  for (int half = 16; half > 0; half /= 2) {
    double one = __shfl_down_sync(0xffffffff, least, half), other = __shfl_down_sync(0xffffffff, most, half);
    least = one < least ? one : least;
    most = other > most ? other : most;
  }
  if (threadIdx.x % 32 == 0) {
    part[0][threadIdx.x / 32] = least;
    part[1][threadIdx.x / 32] = most;
  }
  __syncthreads();
  if (threadIdx.x < BLOCK / 32) {
    least = part[0][threadIdx.x];
    most = part[1][threadIdx.x];
    for (int half = BLOCK / 64; half > 0; half /= 2) {
      double one = __shfl_down_sync(0xff, least, half), other = __shfl_down_sync(0xff, most, half);
      least = one < least ? one : least;
      most = other > most ? other : most;
    }
    if (threadIdx.x == 0) {
      results[2 * blockIdx.x] = least;
      results[2 * blockIdx.x + 1] = most;
    }
  }
}

__global__ void __launch_bounds__(BLOCK) axpy(int n, double a, const double *__restrict__ x, double *__restrict__ y) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void __launch_bounds__(BLOCK)
    multiply(int rows, const int *__restrict__ first, const int *__restrict__ column, const double *__restrict__ value,
             const double *__restrict__ x, double *__restrict__ y) {
  int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  for (int at = first[row]; at < first[row + 1]; ++at) sum += value[at] * x[column[at]];
  y[row] = sum;
}

__global__ void __launch_bounds__(BLOCK) histogram(int n, const int *__restrict__ of, int *__restrict__ count) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) atomicAdd(&count[of[i]], 1);
}
}
