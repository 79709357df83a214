// OP2's functions with C linkage.
#ifndef OKL_OP_LIB_C_H
#define OKL_OP_LIB_C_H

#include "op_lib_core.h"

#define OP_ID ((op_map)NULL)
#define OP_GBL ((op_map)NULL)

#ifdef __cplusplus
extern "C" {
#endif

// Start and end. `diags`: 0 nothing, 2 what is declared, and elements that write the same, 3 every loop.
void op_init(int argc, char **argv, int diags);
void op_init_soa(int argc, char **argv, int diags, int soa);
void op_exit(void);

// The mesh. Data are copied: the caller may free his own at once.
op_set op_decl_set(idx_l_t size, char const *name);
op_map op_decl_map(op_set from, op_set to, int dim, idx_l_t *map, char const *name);
op_map op_decl_map_long(op_set from, op_set to, int dim, idx_g_t *map, char const *name);
op_dat op_decl_dat_char(op_set set, int dim, char const *type, int size, char *data,
                        char const *name);
// There may be no other data of that name, type and dimension on the set. Freeing returns 1, or -1 if there are no such data.
op_dat op_decl_dat_temp_char(op_set set, int dim, char const *type, int size, char const *name);
int op_free_dat_temp_char(op_dat dat);
op_dat op_decl_dat_overlay(op_set set, op_dat dat);
op_dat op_decl_dat_overlay_ptr(op_set set, char *data);
void op_decl_const_char(int dim, char const *type, int size, char *data, char const *name);

// Arguments of op_par_loop.
op_arg op_arg_dat(op_dat dat, int idx, op_map map, int dim, char const *type, op_access acc);
op_arg op_opt_arg_dat(int opt, op_dat dat, int idx, op_map map, int dim, char const *type,
                      op_access acc);
op_arg op_arg_gbl_char(char *data, int dim, char const *type, int size, op_access acc);
op_arg op_opt_arg_gbl_char(int opt, char *data, int dim, char const *type, int size,
                           op_access acc);
op_arg op_arg_idx(int idx, op_map map);
op_arg op_arg_info_char(char *data, int dim, char const *type, int size, int ref);

// Results, in the order in which the program declared the elements. `high` is the last element.
void op_fetch_data_char(op_dat dat, char *data);
void op_fetch_data_idx_char(op_dat dat, char *data, int low, int high);
op_dat op_fetch_data_file_char(op_dat dat);  // a copy: free() its data, its set and itself
void op_print_dat_to_txtfile(op_dat dat, char const *file);
void op_print_dat_to_binfile(op_dat dat, char const *file);
// Prints all values, each in a line: rank 0 those of the whole mesh; where each rank declares a part, each what it has.
void op_dump_dat(op_dat dat);
idx_g_t op_get_size(op_set set);
idx_g_t op_get_global_set_offset(op_set set);
int op_size_of_set(char const *name);

// Distribution and order; neither changes a result. On several ranks each declares the whole mesh. `library`: "" by
// `coords`, if they are given, or in blocks; "GEOM", "BLOCK", "PTSCOTCH", "SCOTCH", "RANDOM"; "EXTERNAL": `coords` is the
// owner of each element.
void op_partition(char const *library, char const *routine, op_set set, op_map map, op_dat coords);
void op_partition_destroy(void);  // does nothing: op_exit forgets who owns what
int op_is_partitioned(void);
void op_renumber(op_map base);
void op_rank(int *rank);
int op_is_root(void);
void op_barrier(void);
void op_mpi_barrier(void);  // the same
void op_disable_mpi_reductions(bool disable);

// Devices.
void op_upload_all(void);
void op_upload_dat(op_dat dat);
void op_download_dat(op_dat dat);
void op_disable_device_execution(bool disable);
void deviceSync(void);

// Output and times.
void op_printf(char const *format, ...) __attribute__((format(printf, 1, 2)));
void op_print(char const *line);
void op_diagnostic_output(void);
void op_timing_output(void);
void op_timing_output_2_file(char const *file);
void op_timings_to_csv(char const *file);
void op_timers(double *cpu, double *wall);
void op_timers_core(double *cpu, double *wall);
// The mean of what the ranks give, and of its square. All ranks call them, and get the same (in OP2 rank 0 alone does).
void op_compute_moment(double value, double *first, double *second);
void op_compute_moment_across_times(double *values, int count, bool ignore_zeros, double *first,
                                    double *second);

// 64-byte aligned memory that free() takes back.
void *op_malloc(size_t size);
void *op_calloc(size_t count, size_t size);
void *op_realloc(void *memory, size_t size);
void op_free(void *memory);

#ifdef __cplusplus
}
#endif

#include "op_hdf5.h"
#include "op_rt_support.h"

#endif
