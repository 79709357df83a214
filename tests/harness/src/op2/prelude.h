// What all random OP2 programs begin with. Everything is computed in whole numbers that each type holds exactly, so that
// no order of additions makes a difference.
#include "op_seq.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

// Of 0..63, whatever comes.
static inline double fold(double x) { return x - 64 * std::floor(x / 64); }
static inline float fold(float x) { return x - 64 * std::floor(x / 64); }
static inline int fold(int x) { return x & 63; }
static inline ll fold(ll x) { return x & 63; }

// Of 0..3.
static inline double few(double x) { return (double)((ll)x & 3); }
static inline float few(float x) { return x - 4 * std::floor(x / 4); }
static inline int few(int x) { return x & 3; }
static inline ll few(ll x) { return x & 3; }

template <class T> static inline void add(T *to, T by) { *to += by; }
template <class T> __attribute__((noinline)) static void add_far(T *to, T by) { *to += by; }
template <class T> static T turns(T x, int count) {
  for (int k = 0; k < count; k++)
    x = fold(x + 3) + k;
  return x;
}

static uint64_t state;
static int number(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}
// They stay: OP_NO_REALLOC keeps them.
template <class T> static T *values(size_t count, int low, int below) {
  T *all = new T[count + 1];
  for (size_t k = 0; k < count; k++)
    all[k] = (T)(low + number(below));
  return all;
}

// Rows of a map.
enum Shape { ANY, NEAR, FEW, REPEATED, OWN, OWN_IN_ORDER, MOSTLY_ONE };
static int *rows(Shape shape, int from, int arity, int to) {
  int *all = new int[(size_t)from * arity + 1];
  int *order = new int[to + 1];
  for (int k = 0; k < to; k++)
    order[k] = k;
  for (int k = to - 1; k > 0; k--)
    std::swap(order[k], order[number(k + 1)]);
  for (int n = 0; n < from; n++)
    for (int c = 0; c < arity; c++) {
      int &target = all[n * arity + c];
      switch (shape) {
      case ANY: target = number(to); break;
      case NEAR: target = (int)(((ll)n * to / from + number(7)) % to); break;
      case FEW: target = to / 3 + number(1 + to / 8); break;
      case REPEATED: target = c > 0 && number(2) ? (&target)[-1] : number(to); break;
      case OWN: target = order[n * arity + c]; break;
      case OWN_IN_ORDER: target = n * arity + c; break;
      case MOSTLY_ONE: target = number(4) ? to - 1 : number(to); break;
      }
    }
  delete[] order;
  return all;
}

static uint64_t seen = 0xcbf29ce484222325;
static void see(void const *data, size_t bytes) {
  for (size_t k = 0; k < bytes; k++)
    seen = (seen ^ ((unsigned char const *)data)[k]) * 0x100000001b3;
}

static bool in_full;
// What the program sees of data: a checksum, or every value.
template <class T> static void show(char const *when, op_dat dat) {
  size_t size = (size_t)op_get_size(dat->set), dim = (size_t)dat->dim;
  T *all = new T[size * dim + 1];
  op_fetch_data(dat, all);
  see(all, size * dim * sizeof(T));
  op_printf("%s %s %016llx\n", when, dat->name, (unsigned long long)seen);
  for (size_t n = 0; in_full && n < size; n++) {
    op_printf("  %s[%d]", dat->name, (int)n);
    for (size_t k = 0; k < dim; k++)
      op_printf(" %.17g", (double)all[n * dim + k]);
    op_printf("\n");
  }
  delete[] all;
}
template <class T> static void show_part(char const *when, op_dat dat, int low, int high) {
  size_t count = (size_t)(high - low + 1) * (size_t)dat->dim;
  T *all = new T[count + 1];
  op_fetch_data_idx(dat, all, low, high);
  see(all, count * sizeof(T));
  op_printf("%s %s of %d to %d %016llx\n", when, dat->name, low, high, (unsigned long long)seen);
  delete[] all;
}
static void show_file(char const *when, op_dat dat) {
  op_print_dat_to_binfile(dat, "printed");
  op_barrier();
  FILE *file = op_is_root() ? fopen("printed", "rb") : NULL;
  uint64_t sum = 0;
  for (int c; file && (c = fgetc(file)) != EOF;)
    sum = sum * 31 + (uint64_t)c;
  if (file)
    fclose(file);
  op_barrier();
  op_printf("%s %s printed %016llx\n", when, dat->name, (unsigned long long)sum);
}
// Of zeros, either sign is right.
template <class T> static void show_values(char const *when, char const *name, T const *all, int count) {
  op_printf("%s %s", when, name);
  for (int k = 0; k < count; k++) {
    double value = (double)all[k] + 0.0;
    see(&value, sizeof value);
    op_printf(" %.17g", value);
  }
  op_printf("\n");
}

static void divide(char const *way, op_set set, op_map map, op_dat coordinates, op_dat owners) {
  if (!strcmp(way, "default"))
    op_partition("", "", set, map, NULL);
  if (!strcmp(way, "block"))
    op_partition("BLOCK", "", set, NULL, NULL);
  if (!strcmp(way, "rcb"))
    op_partition("GEOM", "", set, map, coordinates);
  if (!strcmp(way, "scotch"))
    op_partition("SCOTCH", "", set, map, coordinates);
  if (!strcmp(way, "ptscotch"))
    op_partition("PTSCOTCH", "KWAY", set, map, NULL);
  if (!strcmp(way, "external"))
    op_partition("EXTERNAL", "", set, NULL, owners);
  if (!strcmp(way, "renumber"))
    op_renumber(map);
}

static char const *value_of(int argc, char **argv, char const *name) {
  for (int k = 1; k < argc; k++)
    if (!strncmp(argv[k], name, strlen(name)) && argv[k][strlen(name)] == '=')
      return argv[k] + strlen(name) + 1;
  return "";
}

// What every rank has seen, for comparison.
static void end() {
  int rank;
  op_rank(&rank);
  char name[32];
  snprintf(name, sizeof name, "end.%d", rank);
  FILE *file = fopen(name, "w");
  fprintf(file, "%016llx\n", (unsigned long long)seen);
  fclose(file);
}
