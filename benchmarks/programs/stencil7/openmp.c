#include "stencil.h"

#include "../stencil_openmp.h"
