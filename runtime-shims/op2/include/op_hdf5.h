// OP2's files in HDF5; the library is looked for when the first of these is called. All ranks call them, with the same names.
#ifndef OKL_OP_HDF5_H
#define OKL_OP_HDF5_H

#include "op_lib_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a file holds. NULL, with a warning, if it has no such map or data.
op_set op_decl_set_hdf5(char const *file, char const *name);
op_set op_decl_set_hdf5_infer_size(char const *file, char const *name, char const *dataset);
op_map op_decl_map_hdf5(op_set from, op_set to, int dim, char const *file, char const *name);
op_dat op_decl_dat_hdf5(op_set set, int dim, char const *type, char const *file, char const *name);
void op_get_const_hdf5(char const *name, int dim, char const *type, char *data, char const *file);

// All that is declared, into a new file.
void op_dump_to_hdf5(char const *file);

// Into a file that is there already, or a new one.
void op_write_const_hdf5(char const *name, int dim, char const *type, char *data, char const *file);
void op_fetch_data_hdf5_file(op_dat dat, char const *file);
void op_fetch_data_hdf5_file_path(op_dat dat, char const *file, char const *dataset);

#ifdef __cplusplus
}
#endif

#endif
