// Builds a graph from a list of its edges and searches it breadth first: blocks of vertices. Edges are sent to the
// owners of both ends; at each distance the vertices that were found are sent to theirs. Another graph in every
// iteration.
#include <string.h>

#include "../mpi_common.h"
#include "edges.h"

static int vertices, rank, ranks;
static struct share mine;
static int *out_count, *out_start, *in_count, *in_start;

static int owner(int v) {
  int each = vertices / ranks, more = vertices % ranks, longer = more * (each + 1);
  return v < longer ? v / (each + 1) : more + (v - longer) / each;
}

// `out_count` is what goes to each; sets the other three, and returns how much arrives.
static int agree(void) {
  MPI_Alltoall(out_count, 1, MPI_INT, in_count, 1, MPI_INT, MPI_COMM_WORLD);
  int in = 0, out = 0;
  for (int other = 0; other < ranks; other++) {
    out_start[other] = out;
    in_start[other] = in;
    out += out_count[other];
    in += in_count[other];
  }
  return in;
}

static void exchange(const int *out, int *in) {
  MPI_Alltoallv(out, out_count, out_start, MPI_INT, in, in_count, in_start, MPI_INT,
                MPI_COMM_WORLD);
}

// Grows as needed.
struct room {
  int *items, size;
};

static int *need(struct room *room, int size) {
  if (size > room->size) {
    free(room->items);
    room->size = size + size / 8;
    room->items = allocate(room->size, sizeof *room->items);
  }
  return room->items;
}

static struct room arrived, neighbours;
static int *packed, *start, *next;  // of this rank's vertices

static void build(int iteration) {
  struct share part = share_of(4 * vertices, rank, ranks);
  memset(out_count, 0, ranks * sizeof *out_count);
  for (int i = 0; i < part.count; i++) {
    struct edge e = new_edge(iteration, part.first + i, vertices);
    out_count[owner(e.from)] += 2;
    out_count[owner(e.to)] += 2;
  }
  int count = agree();
  need(&arrived, count);
  need(&neighbours, count / 2);
  for (int i = 0; i < part.count; i++) {
    struct edge e = new_edge(iteration, part.first + i, vertices);
    int *one = packed + out_start[owner(e.from)];
    out_start[owner(e.from)] += 2;
    one[0] = e.from;
    one[1] = e.to;
    int *other = packed + out_start[owner(e.to)];
    out_start[owner(e.to)] += 2;
    other[0] = e.to;
    other[1] = e.from;
  }
  for (int other = 0; other < ranks; other++)
    out_start[other] -= out_count[other];
  exchange(packed, arrived.items);
  memset(next, 0, mine.count * sizeof *next);
  for (int i = 0; i < count; i += 2)
    next[arrived.items[i] - mine.first]++;
  int sum = 0;
  for (int v = 0; v < mine.count; v++) {
    int degree = next[v];
    start[v] = next[v] = sum;
    sum += degree;
  }
  start[mine.count] = sum;
  for (int i = 0; i < count; i += 2)
    neighbours.items[next[arrived.items[i] - mine.first]++] = arrived.items[i + 1];
}

static void search(int source, int *level, unsigned char *seen, int *frontier, int *found,
                   int *home) {
  for (int v = 0; v < mine.count; v++)
    level[v] = -1;
  memset(seen, 0, vertices);
  int count = 0;
  seen[source] = 1;
  if (owner(source) == rank) {
    level[source - mine.first] = 0;
    frontier[count++] = source;
  }
  for (int distance = 1;; distance++) {
    int found_count = 0;
    memset(out_count, 0, ranks * sizeof *out_count);
    for (int f = 0; f < count; f++) {
      int v = frontier[f] - mine.first;
      for (int e = start[v]; e < start[v + 1]; e++) {
        int w = neighbours.items[e];
        if (seen[w])
          continue;
        seen[w] = 1;
        found[found_count++] = w;
        out_count[owner(w)]++;
      }
    }
    int all = 0;
    MPI_Allreduce(&found_count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all == 0)
      break;
    int in = agree();
    need(&arrived, in);
    for (int i = 0; i < found_count; i++)
      home[out_start[owner(found[i])]++] = found[i];
    for (int other = 0; other < ranks; other++)
      out_start[other] -= out_count[other];
    exchange(home, arrived.items);
    count = 0;
    for (int i = 0; i < in; i++) {
      int w = arrived.items[i];
      if (level[w - mine.first] >= 0)
        continue;
      seen[w] = 1;
      level[w - mine.first] = distance;
      frontier[count++] = w;
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  vertices = number(argc, argv, 1, 20000, 1);
  int iterations = number(argc, argv, 2, 10, 1);
  rank = my_rank();
  ranks = all_ranks();
  mine = share_of(vertices, rank, ranks);
  out_count = allocate(ranks, sizeof(int));
  out_start = allocate(ranks, sizeof(int));
  in_count = allocate(ranks, sizeof(int));
  in_start = allocate(ranks, sizeof(int));
  packed = allocate(4 * (size_t)share_of(4 * vertices, rank, ranks).count, sizeof(int));
  start = allocate(mine.count + 1, sizeof(int));
  next = allocate(mine.count, sizeof(int));
  int *level = allocate(mine.count, sizeof *level), *frontier = allocate(mine.count, sizeof *level),
      *found = allocate(vertices, sizeof *found), *home = allocate(vertices, sizeof *home);
  unsigned char *seen = allocate(vertices, 1);

  double started = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      started = start_clock();
    build(iteration);
    search(iteration % vertices, level, seen, frontier, found, home);
  }
  double seconds = stop_clock(started);

  double part = 0, sum = 0;  // of whole numbers: exact in any order
  for (int v = 0; v < mine.count; v++)
    part += (double)level[v] * (1 + (mine.first + v) % 1009);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(seen);
  free(home);
  free(found);
  free(frontier);
  free(level);
  free(next);
  free(start);
  free(packed);
  free(neighbours.items);
  free(arrived.items);
  free(in_start);
  free(in_count);
  free(out_start);
  free(out_count);
  MPI_Finalize();
  return 0;
}
