// What OKL kernels use without including it: okl-cc and okl-c++ read this before each OKL input.
//
// Mathematical functions, printf, and vectors of two to four numbers. With -DOKL_NO_VECTORS a program can have
// vectors of its own.
#ifndef OKL_IMPLICIT_HPP
#define OKL_IMPLICIT_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#ifndef OKL_NO_VECTORS
#include "okl_vectors.hpp"
#endif

#endif
