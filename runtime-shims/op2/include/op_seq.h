// OP2's parallel loops: what programs include.
#ifndef OKL_OP_SEQ_H
#define OKL_OP_SEQ_H

#include <type_traits>

#include "op_lib_cpp.h"

#define OP2_STRIDE(array, component) (array)[component]

extern "C" {
// Where a kernel's parameter points to for element n. `kind`:
// 0  data + n * size
// 1  data + map[n * arity] * size
// 2  columns_at: `columns` pointers, data + map[n * arity + column] * size
// 3  the number n, which is put to data
typedef struct {
  char *data;
  long long size;
  int const *map;
  char **columns_at;
  long long arity;
  long long columns;
  long long kind;
  long long stride;
} okl_op2_parameter;

// Calls `kernel` for elements from..to-1.
typedef void (*okl_op2_range)(void (*kernel)(), okl_op2_parameter *parameters, int from, int to);

void okl_op2_par_loop_v8(char const *name, op_set set, int count, op_arg *arguments,
                         void (*kernel)(), okl_op2_range range, okl_op2_range lanes, int width,
                         int any_order, okl_op2_range components, okl_op2_range component_lanes,
                         void const *device, void const *jit);
}

namespace okl_op2 {

inline char *element(okl_op2_parameter const &parameter, int n) {
  int const *targets = parameter.map + n * parameter.arity;
  switch (parameter.kind) {
  case 0:
    return parameter.data + n * parameter.size;
  case 1:
    return parameter.data + *targets * parameter.size;
  case 2:
    for (long long column = 0; column < parameter.columns; column++)
      parameter.columns_at[column] = parameter.data + targets[column] * parameter.size;
    return (char *)parameter.columns_at;
  default:
    *(int *)parameter.data = n;
    return parameter.data;
  }
}

template <int... At> struct positions {};
template <int Count, int... At> struct positions_up_to : positions_up_to<Count - 1, Count - 1, At...> {};
template <int... At> struct positions_up_to<0, At...> {
  typedef positions<At...> type;
};

template <class... T, int... At>
void run(void (*kernel)(T *...), positions<At...>, okl_op2_parameter *parameters, int from, int to) {
  for (int n = from; n < to; n++)
    kernel((T *)element(parameters[At], n)...);
}

template <class... T>
void range(void (*kernel)(), okl_op2_parameter *parameters, int from, int to) {
  run((void (*)(T *...))kernel, typename positions_up_to<sizeof...(T)>::type(), parameters, from,
      to);
}

}

// Calls `kernel` for each element of `set`; each argument becomes one of its parameters.
template <class... T, class... Arguments>
void op_par_loop(void (*kernel)(T *...), char const *name, op_set set, Arguments... arguments) {
  static_assert(sizeof...(T) == sizeof...(Arguments),
                "op_par_loop: the kernel needs one parameter for each op_arg argument");
  op_arg all[] = {arguments...};
  okl_op2_par_loop_v8(name, set, sizeof...(T), all, (void (*)())kernel, okl_op2::range<T...>,
                      NULL, 0, 0, NULL, NULL, NULL, NULL);
}

// The kernel may be a lambda that captures nothing.
template <class Kernel, class... Arguments>
typename std::enable_if<std::is_class<Kernel>::value>::type
op_par_loop(Kernel kernel, char const *name, op_set set, Arguments... arguments) {
  op_par_loop(+kernel, name, set, arguments...);
}

#endif
