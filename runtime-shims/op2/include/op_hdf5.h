// OP2's files in HDF5: see op_lib_c.h. The functions are not there yet.
#ifndef OKL_OP_HDF5_H
#define OKL_OP_HDF5_H

#include "op_lib_core.h"

#endif
