// Counts what an MPI program sends, by MPI's profiling interface: preload it.
// At the end rank 0 prints one line for each count, with a column for each rank.
//
// A collective counts as the messages its plainest algorithm sends over a tree or
// directly: reductions and broadcasts one message for each rank but the root, both
// for an all-reduce and, without payload, a barrier; gathers and exchanges one
// message from each rank to each rank that gets data from it. An operation on the
// memory of another rank that yields a value is a request and an answer.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MESSAGES, BYTES, COLLECTIVES, COLLECTIVE_MESSAGES, COLLECTIVE_BYTES, RESIDENT, COUNTS };
static const char *const names[COUNTS] = {"messages",           "bytes",
                                          "collectives",        "collective messages",
                                          "collective bytes",   "resident KiB"};
static unsigned long long counts[COUNTS];
static unsigned long long resident_at_start;

// Memory in use now, not its peak: the peak at the start is MPI's own.
static unsigned long long resident(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file) {
    if (fscanf(file, "%*s %llu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned long long peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static unsigned long long resident_since_start(void) {
  unsigned long long now = peak();
  return now > resident_at_start ? now - resident_at_start : 0;
}

static int size_of(MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  return size;
}

static int rank_in(MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static int ranks_in(MPI_Comm comm) {
  int ranks;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

static void point(int to, int count, MPI_Datatype type) {
  if (to == MPI_PROC_NULL)
    return;
  counts[MESSAGES]++;
  counts[BYTES] += (unsigned long long)count * size_of(type);
}

static void collective(unsigned long long messages, unsigned long long bytes) {
  counts[COLLECTIVES]++;
  counts[COLLECTIVE_MESSAGES] += messages;
  counts[COLLECTIVE_BYTES] += bytes;
}

// `messages` of this many elements from each rank but the root.
static void rooted(int root, int messages, int count, MPI_Datatype type, MPI_Comm comm) {
  int sends = rank_in(comm) == root ? 0 : messages;
  collective(sends, (unsigned long long)sends * count * size_of(type));
}

// The same elements from this rank to every other one.
static void to_all(int count, MPI_Datatype type, MPI_Comm comm) {
  int sends = count ? ranks_in(comm) - 1 : 0;
  collective(sends, (unsigned long long)sends * count * size_of(type));
}

int MPI_Init(int *argc, char ***argv) {
  int result = PMPI_Init(argc, argv);
  resident_at_start = resident();
  return result;
}

int MPI_Finalize(void) {
  int rank = rank_in(MPI_COMM_WORLD), ranks = ranks_in(MPI_COMM_WORLD);
  counts[RESIDENT] = resident_since_start();
  unsigned long long *all = malloc(ranks * sizeof counts);
  PMPI_Gather(counts, COUNTS, MPI_UNSIGNED_LONG_LONG, all, COUNTS, MPI_UNSIGNED_LONG_LONG, 0,
              MPI_COMM_WORLD);
  if (rank == 0) {
    fprintf(stderr, "counted: statistics\n");
    for (int name = 0; name < COUNTS; name++) {
      fprintf(stderr, "  %19s", names[name]);
      for (int r = 0; r < ranks; r++)
        fprintf(stderr, " %12llu", all[r * COUNTS + name]);
      fprintf(stderr, "\n");
    }
  }
  free(all);
  return PMPI_Finalize();
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  point(to, count, type);
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
  point(to, count, type);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status) {
  point(to, out_count, out_type);
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                       comm, status);
}

// Ranks of a window are those of all processes.
int MPI_Fetch_and_op(const void *in, void *out, MPI_Datatype type, int to, MPI_Aint place,
                     MPI_Op op, MPI_Win window) {
  if (to != rank_in(MPI_COMM_WORLD)) {
    point(to, 1, type);
    point(to, 1, type);
  }
  return PMPI_Fetch_and_op(in, out, type, to, place, op, window);
}

int MPI_Barrier(MPI_Comm comm) {
  rooted(0, 2, 0, MPI_BYTE, comm);
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  rooted(root, 1, count, type, comm);
  return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  rooted(root, 1, count, type, comm);
  return PMPI_Reduce(in, out, count, type, op, root, comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  rooted(0, 2, count, type, comm);
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Gatherv(const void *in, int in_count, MPI_Datatype in_type, void *out, const int *out_counts,
                const int *starts, MPI_Datatype out_type, int root, MPI_Comm comm) {
  rooted(root, 1, in_count, in_type, comm);
  return PMPI_Gatherv(in, in_count, in_type, out, out_counts, starts, out_type, root, comm);
}

int MPI_Allgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
  to_all(in_count, in_type, comm);
  return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Allgatherv(const void *in, int in_count, MPI_Datatype in_type, void *out,
                   const int *out_counts, const int *starts, MPI_Datatype out_type,
                   MPI_Comm comm) {
  if (in == MPI_IN_PLACE)
    to_all(out_counts[rank_in(comm)], out_type, comm);
  else
    to_all(in_count, in_type, comm);
  return PMPI_Allgatherv(in, in_count, in_type, out, out_counts, starts, out_type, comm);
}

int MPI_Alltoall(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
  to_all(in_count, in_type, comm);
  return PMPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Alltoallv(const void *in, const int *in_counts, const int *in_starts, MPI_Datatype in_type,
                  void *out, const int *out_counts, const int *out_starts, MPI_Datatype out_type,
                  MPI_Comm comm) {
  int rank = rank_in(comm), messages = 0;
  unsigned long long elements = 0;
  for (int to = 0; to < ranks_in(comm); to++)
    if (to != rank && in_counts[to]) {
      messages++;
      elements += in_counts[to];
    }
  collective(messages, elements * size_of(in_type));
  return PMPI_Alltoallv(in, in_counts, in_starts, in_type, out, out_counts, out_starts, out_type,
                        comm);
}
