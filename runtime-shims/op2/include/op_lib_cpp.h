// OP2's functions for C++: types are checked against the names that the program gives them.
#ifndef OKL_OP_LIB_CPP_H
#define OKL_OP_LIB_CPP_H

#include "op_lib_c.h"

#ifdef _OPENMP
#include <omp.h>
#endif

extern "C" [[noreturn]] void okl_op2_wrong_type(char const *function, char const *type,
                                                char const *name);

namespace okl_op2 {
inline bool is_named(char const *type, char const *name) {
  size_t length = strlen(name);
  return strncmp(type, name, length) == 0 &&
         (type[length] == 0 || strcmp(type + length, ":soa") == 0);
}
}

// Whether `type` is not the name of the type pointed to. A program adds overloads for its own types in
// op_user_datatypes.h.
inline int type_error(double const *, char const *type) { return !okl_op2::is_named(type, "double"); }
inline int type_error(float const *, char const *type) { return !okl_op2::is_named(type, "float"); }
inline int type_error(int const *, char const *type) { return !okl_op2::is_named(type, "int"); }
inline int type_error(uint const *, char const *type) { return !okl_op2::is_named(type, "uint"); }
inline int type_error(ll const *, char const *type) { return !okl_op2::is_named(type, "ll"); }
inline int type_error(ull const *, char const *type) { return !okl_op2::is_named(type, "ull"); }
inline int type_error(bool const *, char const *type) { return !okl_op2::is_named(type, "bool"); }

#ifdef OP_USER_DATATYPES
#include "op_user_datatypes.h"
#endif

#define ZERO_double 0.0;
#define ZERO_float 0.0f;
#define ZERO_int 0;
#define ZERO_uint 0;
#define ZERO_ll 0;
#define ZERO_ull 0;
#define ZERO_bool 0;

template <class T>
op_dat op_decl_dat(op_set set, int dim, char const *type, T *data, char const *name) {
  if (type_error(data, type))
    okl_op2_wrong_type("op_decl_dat", type, name);
  return op_decl_dat_char(set, dim, type, sizeof(T), (char *)data, name);
}

// The pointer only tells the type.
template <class T>
op_dat op_decl_dat_temp(op_set set, int dim, char const *type, T *, char const *name) {
  if (type_error((T *)nullptr, type))
    okl_op2_wrong_type("op_decl_dat_temp", type, name);
  return op_decl_dat_temp_char(set, dim, type, sizeof(T), name);
}

inline int op_free_dat_temp(op_dat dat) { return op_free_dat_temp_char(dat); }

template <class T> void op_decl_const2(char const *name, int dim, char const *type, T *data) {
  if (type_error(data, type))
    okl_op2_wrong_type("op_decl_const", type, name);
  op_decl_const_char(dim, type, sizeof(T), (char *)data, name);
}

template <class T> void op_decl_const(int dim, char const *type, T *data) {
  op_decl_const2("", dim, type, data);
}

template <class T> op_arg op_arg_gbl(T *data, int dim, char const *type, op_access acc) {
  if (type_error(data, type))
    okl_op2_wrong_type("op_arg_gbl", type, "");
  return op_arg_gbl_char((char *)data, dim, type, sizeof(T), acc);
}

template <class T>
op_arg op_opt_arg_gbl(int opt, T *data, int dim, char const *type, op_access acc) {
  if (type_error(data, type))
    okl_op2_wrong_type("op_opt_arg_gbl", type, "");
  return op_opt_arg_gbl_char(opt, (char *)data, dim, type, sizeof(T), acc);
}

template <class T> op_arg op_arg_info(T *data, int dim, char const *type, int ref) {
  if (type_error(data, type))
    okl_op2_wrong_type("op_arg_info", type, "");
  return op_arg_info_char((char *)data, dim, type, sizeof(T), ref);
}

template <class T> void op_fetch_data(op_dat dat, T *data) {
  op_fetch_data_char(dat, (char *)data);
}

template <class T> void op_fetch_data_idx(op_dat dat, T *data, int low, int high) {
  op_fetch_data_idx_char(dat, (char *)data, low, high);
}

#endif
