// What it costs to begin what hardly does anything: 1000 calls of
//
//   region    a region of OpenMP's whose loop has a turn
//   set       a loop of OP2's over a set with an element
//
//   calls [SCALE]
//
// SCALE divides how long it runs.
#include "measure.h"
#include "op_seq.h"

static const int calls = 1000;

static double factor = 1.5;
static void scaled(const double *x, double *y) { y[0] = factor * x[0]; }

struct data {
  int n;
  double by;
  const double *in;
  double *out;
  op_set set;
  op_dat x, y;
};

static void region(const void *all) {
  const struct data *d = static_cast<const struct data *>(all);
  const int n = d->n;
  const double by = d->by, *in = d->in;
  double *out = d->out;
  for (int call = 0; call < calls; call++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) out[i] = by * in[i];
  }
}

static void set(const void *all) {
  const struct data *d = static_cast<const struct data *>(all);
  for (int call = 0; call < calls; call++)
    op_par_loop(scaled, "scaled", d->set, op_arg_dat(d->x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(d->y, -1, OP_ID, 1, "double", OP_WRITE));
}

int main(int count, char **arguments) {
  const int scale = count > 1 ? atoi(arguments[1]) : 1;
  op_init(0, arguments, 0);
  const double *in = numbers(2);
  double out[1], there[1] = {2};
  struct data d = {1, scale > 0 ? 0.5 : 0.25, in + 1, out};
  d.set = op_decl_set(1, "one");
  d.x = op_decl_dat(d.set, 1, "double", there, "x");
  d.y = op_decl_dat(d.set, 1, "double", out, "y");
  measure("region", region, &d, out, 1, scale);
  measure("set", set, &d, out, 1, scale);
  tell_memory();
  op_exit();
}
