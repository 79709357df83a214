// OP2's types: sets, maps, data on sets, and arguments of parallel loops; what all headers of okl's OP2
// share. Layouts are those of OP2-Common's header of the same name, so that objects compiled against
// either can be linked.
#ifndef OKL_OP_LIB_CORE_H
#define OKL_OP_LIB_CORE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#ifdef __cplusplus
#include <cstddef>
#include <iostream>
#include <limits>
#include <stdexcept>
#endif

typedef unsigned int uint;
typedef long long ll;
typedef unsigned long long ull;

// Numbers of elements, and the numbers of elements in a whole mesh.
typedef int idx_l_t;
typedef long long idx_g_t;

// How an argument is accessed.
typedef int op_access;
#define OP_READ 0   // read only
#define OP_WRITE 1  // written without being read
#define OP_RW 2     // read and written
#define OP_INC 3    // incremented only
#define OP_MIN 4    // global arguments: the least value
#define OP_MAX 5    // global arguments: the greatest value
#define OP_WORK 6

// What an argument is.
typedef int op_arg_type;
#define OP_ARG_GBL 0   // a global variable
#define OP_ARG_DAT 1   // data on a set
#define OP_ARG_IDX 2   // the element's number
#define OP_ARG_INFO 3  // what goes along with the winner of an OP_MIN or OP_MAX argument

#define OP_STAGE_NONE 0
#define OP_STAGE_INC 1
#define OP_STAGE_ALL 2
#define OP_STAGE_PERMUTE 3
#define OP_COLOR2 4

typedef struct {
  int index;         // position in OP_set_list
  idx_l_t size;      // elements of the whole mesh
  char const *name;
  int core_size;     // of this process: they need no data of others
  int exec_size;     // of other processes: they are executed here, too
  int nonexec_size;  // of other processes: they are only read
  int stride;        // elements that this process has, with those of others
} op_set_core;
typedef op_set_core *op_set;

typedef struct {
  int index;         // position in OP_map_list
  op_set from, to;
  int dim;           // elements of `to` that each of `from` points to
  int *map;
  idx_g_t *map_gbl;
  int *map_d;
  char const *name;
  int user_managed;
  bool force_part;
} op_map_core;
typedef op_map_core *op_map;

typedef struct {
  int index;
  op_set set;
  int dim;           // components of an element
  int size;          // bytes of an element
  char *data;
  char *data_d;
  char const *type;
  char const *name;
  char *buffer_d;
  char *buffer_d_r;
  int dirtybit;
  int dirty_hd;
  int user_managed;
  void *mpi_buffer;
} op_dat_core;
typedef op_dat_core *op_dat;

typedef struct {
  int index;
  op_dat dat;
  op_map map;
  int dim;
  int idx;           // column of the map; -1: none; -n: all of its first n
  int size;          // bytes of an element
  char *data;
  char *data_d;
  int *map_data;
  int *map_data_d;
  char const *type;
  op_access acc;     // of OP_ARG_INFO: position of the argument it belongs to
  op_arg_type argtype;
  int sent;
  int opt;           // 0: not used in this call
} op_arg;

// What is known of the loops of one name.
typedef struct {
  char const *name;
  int count;         // calls
  double time;       // seconds
  double *times;
  int ntimes;
  float plan_time;
  float transfer;    // bytes of data
  float transfer2;
  double mpi_time;
} op_kernel;

struct op_dat_entry_core {
  op_dat dat;
  void *orig_ptr;
  TAILQ_ENTRY(op_dat_entry_core) entries;
};
typedef struct op_dat_entry_core op_dat_entry;
typedef TAILQ_HEAD(, op_dat_entry_core) Double_linked_list;

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define ROUND_UP(bytes) (((bytes) + 15) & ~15)
#define ROUND_UP_64(bytes) (((bytes) + 63) & ~63)

#ifdef __cplusplus
// The next multiple of 32.
constexpr size_t round32(size_t count) { return (count + 31) & ~(size_t)31; }

extern "C" {
#endif

extern int OP_is_partitioned;  // whether op_partition has been called
extern int OP_diags, OP_part_size, OP_block_size, OP_auto_soa, OP_maps_base_index;
extern int OP_set_index, OP_map_index, OP_dat_index, OP_kern_max;
extern op_set *OP_set_list;
extern op_map *OP_map_list;
extern Double_linked_list OP_dat_list;
extern op_kernel *OP_kernels;
extern double OP_plan_time;

// Whether two sets are the same: 1 or 0.
int compare_sets(op_set one, op_set other);

// A file that includes this may look at op_dat->data, unless the compiler plugin finds that it does not and takes this
// call away: data that were to be stored component by component then stay as they are.
void okl_op2_looks_at_data(void);
__attribute__((constructor)) static void okl_op2_may_look_at_data(void) {
  okl_op2_looks_at_data();
}

#ifdef __cplusplus
}
#endif

#endif
