// A tree of tasks: every rank walks all of it, which costs nothing beside the work, and does the nodes whose numbers
// it draws from a counter in the memory of rank 0.
#include "../mpi_common.h"
#include "work.h"

struct walk {
  MPI_Win counter;
  int rounds;
  int number;  // of the next node that the walk comes to
  int drawn;   // the next one that this rank does
};

static int draw(MPI_Win counter) {
  int one = 1, drawn;
  MPI_Fetch_and_op(&one, &drawn, MPI_INT, 0, 0, MPI_SUM, counter);
  MPI_Win_flush(0, counter);
  return drawn;
}

// What this rank finds at a node and all below it.
static double visit(struct walk *walk, uint64_t node, int depth) {
  double sum = 0;
  if (walk->number++ == walk->drawn) {
    sum = work(node, walk->rounds);
    walk->drawn = draw(walk->counter);
  }
  int count = children(node, depth);
  for (int which = 0; which < count; which++)
    sum += visit(walk, child(node, which), depth - 1);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int depth = number(argc, argv, 1, 5, 0);
  int rounds = number(argc, argv, 2, 150000, 1);
  int iterations = number(argc, argv, 3, 10, 1);
  int rank = my_rank(), *counter;
  MPI_Win window;
  MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &counter, &window);
  MPI_Win_lock_all(0, window);

  double part = 0, sum = 0, start = 0;  // of whole numbers: exact in any order
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (rank == 0) {
      *counter = 0;
      MPI_Win_sync(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    struct walk walk = {window, rounds, 0, draw(window)};
    part += visit(&walk, root(iteration), depth);
    // All have drawn before the counter begins anew.
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  double seconds = stop_clock(start);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
