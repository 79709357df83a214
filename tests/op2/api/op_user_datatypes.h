// What OP2's header asks of a program with types of its own: whether a name is not that of the type.
struct vertex {
  float place[3];
  short kind, colour;
};
inline int type_error(vertex const *, char const *type) { return !okl_op2::is_named(type, "vertex"); }
