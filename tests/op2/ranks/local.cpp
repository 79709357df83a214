// Programs in which each rank declares a part of the mesh: the parts of whichever ranks make the same mesh. Data are the
// part that is declared until the mesh is distributed, and may be written there; after that sizes, data and numbers of
// elements are those of the rank. What is fetched is the part that was declared; files and results are those of the whole.
//
// REQUIRES: h5diff libhdf5
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O2 -Wall -Wextra -Werror -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t plain %t.0 | FileCheck --match-full-lines --check-prefixes=CHECK,ONE %s
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.okl
// RUN: for n in 1 2; do OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n $n %t.okl plain %t.soa | FileCheck --match-full-lines --check-prefix=CHECK %s && cmp %t.0.txt %t.soa.txt && cmp %t.0.bin %t.soa.bin && h5diff %t.0.h5 %t.soa.h5 || exit 1; done
// RUN: OKL_BACKEND=seq %t plain %t.seq | FileCheck --match-full-lines --check-prefixes=CHECK,ONE %s
// RUN: for n in 2 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t plain %t.$n | FileCheck --match-full-lines --check-prefix=CHECK %s && cmp %t.0.txt %t.$n.txt && cmp %t.0.bin %t.$n.bin && h5diff %t.0.h5 %t.$n.h5 || exit 1; done
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t plain %t.3 | FileCheck --match-full-lines --check-prefixes=CHECK,THREE %s
// RUN: cmp %t.0.txt %t.3.txt && h5diff %t.0.h5 %t.3.h5
//
// On every second rank, from the last to the first, while the others do something else.
// RUN: mpirun --allow-run-as-root --oversubscribe -n 5 %t own %t.own | FileCheck --match-full-lines --check-prefixes=CHECK,THREE %s
// RUN: cmp %t.0.txt %t.own.txt && h5diff %t.0.h5 %t.own.h5
//
// The same with the plugin.
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++17 -O2 -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t plain %t.3 | FileCheck --match-full-lines --check-prefixes=CHECK,THREE %s
//
// ONE:   sizes 8 9, 8 9 before 0 0, whole 8 9
// THREE: sizes 3 2, 3 2 before 0 0, whole 8 9
// CHECK: right
// CHECK: right
// CHECK: right
// CHECK: loops 72 2 at 4
// CHECK: order 8
// CHECK: right
// CHECK: right
// CHECK: file 9 right
// CHECK: ended
// Its own C++ functions come with warnings.
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include "op_lib_mpi.h"
#include "op_seq.h"

#include <string>
#include <vector>

static int const EDGES = 8, NODES = 9;

// A part of `whole` elements: the further the rank, the more; one of several ranks has none of the nodes.
static int begin_of(int whole, int rank, int ranks) {
  if (rank == ranks)
    return whole;
  if (whole == NODES && ranks > 1)
    return rank == 0 ? 0 : whole * (rank - 1) / (ranks - 1) + (rank == 1 ? 2 : 0);
  return rank * whole / ranks + rank % 2;
}

static void add(double const *weight, double *left, double *right) {
  *left += *weight, *right += *weight;
}

static void most(double const *x, int const *number, double *sum, double *greatest, int *where) {
  *sum += *x;
  if (*x > *greatest)
    *greatest = *x, *where = *number;
}

static void number(int const *here, int const *end, int *out) { out[0] = *here, out[1] = *end; }

// Updates what it is given, and writes through a map: a loop of which each rank runs all.
static void count(double *sum, int *seen) { *sum += 0, *seen += 1; }

static void check(bool good, MPI_Comm comm) {
  int mine = good, all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
  op_printf(all ? "right\n" : "wrong\n");
}

// Whether the data are those of the elements that the rank has now, and the library says how many.
static bool are_here(op_set set, op_dat numbers, int whole) {
  int sizes = 0, before = 0;
  MPI_Allreduce(&set->size, &sizes, 1, MPI_INT, MPI_SUM, OP_MPI_WORLD);
  MPI_Exscan(&set->size, &before, 1, MPI_INT, MPI_SUM, OP_MPI_WORLD);
  bool good = sizes == whole && op_get_size(set) == whole && (op_is_root() || op_get_global_set_offset(set) == before);
  good &= op_size_of_set(set->name) == set->size + set->exec_size + set->nonexec_size;
  std::vector<int> mine(whole), all(whole);
  for (int n = 0; n < set->size; n++)
    mine[((int *)numbers->data)[n]] += 1;
  MPI_Allreduce(mine.data(), all.data(), whole, MPI_INT, MPI_SUM, OP_MPI_WORLD);
  for (int one : all)
    good &= one == 1;
  return good;
}

int main(int argc, char **argv) {
  std::string const out = argv[2];
  bool const own = strcmp(argv[1], "own") == 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (own) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    if (rank % 2 == 0)
      op_mpi_init(argc, argv, 0, MPI_Comm_c2f(MPI_COMM_WORLD), MPI_Comm_c2f(comm));
    else {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Finalize();
      return 0;
    }
  } else
    op_init(argc, argv, 0);
  int rank, ranks, same;
  MPI_Comm_rank(OP_MPI_WORLD, &rank), MPI_Comm_size(OP_MPI_WORLD, &ranks);
  op_rank(&same);
  if (same != rank || (rank == MPI_ROOT) != op_is_root())
    printf("wrong rank\n");

  int const edge0 = begin_of(EDGES, rank, ranks), edge1 = begin_of(EDGES, rank + 1, ranks);
  int const node0 = begin_of(NODES, rank, ranks), node1 = begin_of(NODES, rank + 1, ranks);
  op_set edges = op_decl_set(edge1 - edge0, "edges"), nodes = op_decl_set(node1 - node0, "nodes");
  op_printf("sizes %d %d, %d %d before %lld %lld, whole %lld %lld\n", edges->size, nodes->size, op_size_of_set("edges"),
            op_size_of_set("nodes"), op_get_global_set_offset(edges), op_get_global_set_offset(nodes), op_get_size(edges),
            op_get_size(nodes));
  bool good = op_get_global_set_offset(edges) == edge0 && op_get_global_set_offset(nodes) == node0;

  std::vector<int> ends;
  std::vector<ll> far;
  std::vector<double> weights, x;
  std::vector<int> edge, node;
  for (int e = edge0; e < edge1; e++) {
    ends.push_back(e), ends.push_back(e + 1);
    far.push_back(NODES - 1 - e);
    weights.push_back(0);
    edge.push_back(e);
  }
  for (int n = node0; n < node1; n++)
    x.push_back(n), x.push_back(-n), node.push_back(n);
  op_map ends_of = op_decl_map(edges, nodes, 2, ends.data(), "ends_of");
  op_map far_of = op_decl_map_long(edges, nodes, 1, far.data(), "far_of");
  op_dat weight = op_decl_dat(edges, 1, "double", weights.data(), "weight");
  op_dat sum = op_decl_dat(nodes, 1, "double", (double *)NULL, "sum");
  op_dat at = op_decl_dat(nodes, 2, "double", x.data(), "at");
  op_dat numbers = op_decl_dat(edges, 2, "int", (int *)NULL, "numbers");
  op_dat places = op_decl_dat_temp(edges, 2, "int", (int *)NULL, "places");
  op_dat edge_of = op_decl_dat(edges, 1, "int", edge.data(), "edge_of");
  op_dat node_of = op_decl_dat(nodes, 1, "int", node.data(), "node_of");
  std::vector<double> fetched(2 * (node1 - node0) + 1, 77);
  op_fetch_data(at, fetched.data());
  for (int n = node0; n < node1; n++)
    good &= fetched[2 * (n - node0)] == n && fetched[2 * (n - node0) + 1] == -n;
  check(good && fetched.back() == 77, OP_MPI_WORLD);

  // What is written to the data before anything runs counts.
  good = are_here(edges, edge_of, EDGES) && are_here(nodes, node_of, NODES);
  for (int e = edge0; e < edge1; e++)
    ((double *)weight->data)[e - edge0] = e + 1;
  check(good, OP_MPI_WORLD);

  // Without a wish each rank keeps what it has declared.
  op_partition("", "", edges, ends_of, NULL);
  good = edges->size == edge1 - edge0 && nodes->size == node1 - node0;
  for (int n = 0; n < nodes->size; n++)
    good &= ((int *)node_of->data)[n] >= node0 && ((int *)node_of->data)[n] < node1;
  check(good && are_here(edges, edge_of, EDGES), OP_MPI_WORLD);

  op_partition("", "", edges, ends_of, at);
  op_par_loop(add, "add", edges, op_arg_dat(weight, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, ends_of, 1, "double", OP_INC), op_arg_dat(sum, 1, ends_of, 1, "double", OP_INC));
  op_par_loop(number, "number", edges, op_arg_dat(edge_of, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(node_of, 0, far_of, 1, "int", OP_READ), op_arg_dat(numbers, -1, OP_ID, 2, "int", OP_WRITE));
  op_par_loop(number, "number", edges, op_arg_idx(-1, OP_ID), op_arg_idx(0, far_of),
              op_arg_dat(places, -1, OP_ID, 2, "int", OP_WRITE));
  // Data that come when the mesh is in parts of its own.
  std::vector<double> late(node1 - node0);
  for (int n = node0; n < node1; n++)
    late[n - node0] = n == 4 ? 2 : 1;
  op_dat more = op_decl_dat(nodes, 1, "double", late.data(), "more");
  double total = 0, greatest = 0, nothing = 0;
  int where = -1, nowhere;
  op_par_loop(most, "most", nodes, op_arg_dat(sum, -1, OP_ID, 1, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&total, 1, "double", OP_INC), op_arg_gbl(&nothing, 1, "double", OP_MAX),
              op_arg_info(&nowhere, 1, "int", 3));
  double other = 0;
  op_par_loop(most, "most", nodes, op_arg_dat(more, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(node_of, -1, OP_ID, 1, "int", OP_READ), op_arg_gbl(&other, 1, "double", OP_INC), op_arg_gbl(&greatest, 1, "double", OP_MAX),
              op_arg_info(&where, 1, "int", 3));
  op_printf("loops %g %g at %d\n", total, greatest, where);

  int seen = 0;
  op_par_loop(count, "count", edges, op_arg_dat(sum, 0, ends_of, 1, "double", OP_INC),
              op_arg_gbl(&seen, 1, "int", OP_RW));
  op_printf("order %d\n", seen);

  // An element's number is the one of its data.
  good = are_here(edges, edge_of, EDGES) && are_here(nodes, node_of, NODES);
  for (int n = 0; n < edges->size; n++) {
    int const *place = (int *)places->data + 2 * n, *number = (int *)numbers->data + 2 * n;
    good &= place[0] == n && number[0] == ((int *)edge_of->data)[n];
    good &= place[1] == far_of->map[n] && number[1] == ((int *)node_of->data)[place[1]];
  }
  check(good, OP_MPI_WORLD);
  op_free_dat_temp(places);

  // A part by op_fetch_data, whatever is asked for by op_fetch_data_idx.
  good = true;
  std::vector<int> found(2 * (edge1 - edge0) + 1, 77), all(2 * EDGES);
  op_fetch_data(numbers, found.data());
  for (int e = edge0; e < edge1; e++)
    good &= found[2 * (e - edge0)] == e && found[2 * (e - edge0) + 1] == NODES - 1 - e;
  good &= found.back() == 77;
  op_fetch_data_idx(numbers, all.data(), 0, EDGES - 1);
  for (int e = 0; e < EDGES; e++)
    good &= all[2 * e] == e && all[2 * e + 1] == NODES - 1 - e;
  op_dat copy = op_fetch_data_file_char(numbers);
  good &= copy->set->size == edge1 - edge0 &&
          memcmp(copy->data, found.data(), 2 * sizeof(int) * (edge1 - edge0)) == 0;
  free(copy->data), free(copy->set), free(copy);
  check(good, OP_MPI_WORLD);

  op_print_dat_to_txtfile(sum, (out + ".txt").c_str());
  op_print_dat_to_binfile(numbers, (out + ".bin").c_str());
  op_dump_to_hdf5((out + ".h5").c_str());
  // Of a set in a file each rank has a part, too.
  op_set read = op_decl_set_hdf5((out + ".h5").c_str(), "nodes");
  op_dat values = op_decl_dat_hdf5(read, 1, "double", (out + ".h5").c_str(), "sum");
  std::vector<double> part(read->size + 1, 77);
  op_fetch_data(values, part.data());
  double mine = 0, sums = 0;
  for (int n = 0; n < read->size; n++)
    mine += part[n];
  MPI_Allreduce(&mine, &sums, 1, MPI_DOUBLE, MPI_SUM, OP_MPI_WORLD);
  op_printf("file %lld %s\n", op_get_size(read), sums == 72 && part.back() == 77 ? "right" : "wrong");
  op_exit();
  if (own)
    MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("ended\n");
  return 0;
}
