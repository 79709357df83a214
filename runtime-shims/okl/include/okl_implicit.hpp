// What OKL kernels use without including it: okl-cc and okl-c++ read this before each OKL input.
//
// Mathematical functions, printf, vectors of two to four numbers, and what the table of kernels is written with. With -DOKL_NO_VECTORS a program can have
// vectors of its own.
#ifndef OKL_IMPLICIT_HPP
#define OKL_IMPLICIT_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "okl_instances.hpp"

#ifndef OKL_NO_VECTORS
#include "okl_vectors.hpp"
#endif

#endif
