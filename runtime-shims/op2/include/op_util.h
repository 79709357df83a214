// What OP2's programs use to divide a mesh between ranks, and to sort and search in it.
#ifndef OKL_OP_UTIL_H
#define OKL_OP_UTIL_H

#include "op_lib_core.h"

#ifdef __cplusplus
#include <algorithm>

extern "C" {
#endif

// The elements of a rank's part of `whole`; the first ranks have one more if they cannot all have as many.
int compute_local_size(int whole, int ranks, int rank);

// op_malloc, op_calloc and op_realloc; null for 0 bytes.
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t size);

#ifdef __cplusplus
}

// Where the least of an array's values is; -1 for none.
inline int min(int array[], int size) {
  return size < 1 ? -1 : (int)(std::min_element(array, array + size) - array);
}

// Where `value` is among the elements `low` to `high`, or -1. The first looks at all of them, the second at sorted ones.
inline int linear_search(int a[], int value, int low, int high) {
  int const *end = a + high + 1, *found = std::find(a + low, a + high + 1, value);
  return found == end ? -1 : (int)(found - a);
}
template <class T, class U> int binary_search(T a[], U value, int low, int high) {
  T *end = a + high + 1, *found = std::lower_bound(a + low, end, value);
  return found == end || *found != value ? -1 : (int)(found - a);
}

template <class T> void op_sort(T *array, int size) { std::sort(array, array + size); }

// The number of different values, which come first then, in a sorted array.
template <class T> int removeDups(T *array, int size) {
  return (int)(std::unique(array, array + size) - array);
}

// Whether there is a file of that name: 1 or 0.
inline int file_exist(char const *name) {
  FILE *file = fopen(name, "r");
  if (file)
    fclose(file);
  return file != NULL;
}
#endif

#endif
