#include "stencil.h"

#include "../stencil_mpi.h"
