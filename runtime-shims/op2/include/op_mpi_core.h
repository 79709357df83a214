// See op_lib_mpi.h.
#include "op_lib_mpi.h"
