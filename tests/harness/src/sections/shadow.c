// What a translated kernel declares, against what its loops access. Compiled without the plugin;
// the definition here takes the place of the runtime's.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  long access, element, dimensions;
  const char *object, *location;
};
struct value {
  long computed;
  const char *variable;
  long constant;
};
struct table {
  const char *location;
  const struct entry *entries;
  long count;
  const struct value *values;
  long value_count;
};
enum {
  READ = 1, WRITE = 2, MAY = 4, ANYWHERE = 8, BOUND = 16, MARKED = 32, BITS = 64, TABLE = 128, RELATIVE = 256,
  NUMBERS = 512, SIGNED = 1024, BETWEEN = 2048, PLACES = 8192, COUNTED = 16384,
  NEGATIVE_UNUSED = 65536, ZERO_UNUSED = 131072, MINUS_ONE_UNUSED = 262144
};
// What is known of a byte.
enum { IS_READ = 1, IS_WRITTEN = 2, SAID_READ = 4, SAID_WRITTEN = 8, SAID_MAYBE = 16 };

enum { ARRAYS = 12 };
static struct {
  char *start;
  long size;
  unsigned char *bytes;
} arrays[ARRAYS];
static int count, failures;
// Declarations since the last region.
static long since;

// The thread that runs, and how many there are: they run one after the other.
static int thread, team = 1;

void shadow_thread(int number, int of) {
  thread = number;
  team = of;
}

// Whether an iteration is another thread's.
int shadow_skips(long iteration, long chunk) { return iteration / chunk % team != thread; }

// schedule(static), of which one thread has all, and schedule(static, chunk).
#define SHARE(name, type)                                                                          \
  void name(void *at, int id, int schedule, int *is_last, type *lower, type *upper, type *stride,  \
            type increment, type chunk) {                                                          \
    long last = *upper;                                                                            \
    *is_last = 1;                                                                                  \
    *stride = last + 1;                                                                            \
    if (schedule == 33) {                                                                          \
      *stride = chunk * team;                                                                      \
      *lower = thread * chunk;                                                                     \
      *upper = *lower + chunk - 1;                                                                 \
      *is_last = last / chunk % team == thread;                                                    \
    }                                                                                              \
  }
SHARE(okl_mpi_kmpc_for_static_init_4, int)
SHARE(okl_mpi_kmpc_for_static_init_8, long)
SHARE(okl_mpi_kmpc_for_static_init_4u, unsigned)
SHARE(okl_mpi_kmpc_for_static_init_8u, unsigned long)

// Where the kernel marks what it writes of an array.
enum { MARKS = 256 };
static struct {
  int array, are_bits;
  long element, elements;
  unsigned char *set;
} marks[MARKS];
static int marked;

void shadow_array(void *start, long size) {
  if (count == ARRAYS) {
    printf("the test has too many arrays\n");
    exit(3);
  }
  arrays[count].start = start;
  arrays[count].size = size;
  arrays[count++].bytes = calloc(size, 1);
}

void shadow_access(void *at, long size, int written) {
  for (int k = 0; k < count; k++) {
    long from = (char *)at - arrays[k].start;
    if (from >= 0 && from + size <= arrays[k].size) {
      for (long b = from; b < from + size; b++)
        arrays[k].bytes[b] |= written ? IS_WRITTEN : IS_READ;
      return;
    }
  }
  printf("the test itself leaves its arrays\n");
  exit(3);
}

static void fail(const struct entry *e, const char *what) {
  if (failures++ < 10)
    printf("%s: %s %s\n", e->location, e->object, what);
}

// The array an address lies in.
static int array_at(const char *at) {
  for (int k = 0; k < count; k++)
    if (at >= arrays[k].start && at < arrays[k].start + arrays[k].size)
      return k;
  return -1;
}

static void say(const struct entry *e, char *at) {
  int flag = e->access & READ ? SAID_READ : e->access & MAY ? SAID_MAYBE : SAID_WRITTEN;
  int meant = array_at(at);
  for (int k = 0; k < count; k++) {
    long from = at - arrays[k].start, to = from + e->element;
    // A bound may begin in front of its array, and end in others.
    if (meant >= 0 ? k == meant : !(e->access & ANYWHERE) && from < arrays[k].size && to > 0) {
      if (e->access & ANYWHERE)
        from = 0, to = arrays[k].size;
      if (!(e->access & BOUND) && (from < 0 || to > arrays[k].size))
        fail(e, "is said to leave its array");
      for (long b = from < 0 ? 0 : from; b < to && b < arrays[k].size; b++)
        arrays[k].bytes[b] |= flag;
      return;
    }
  }
  if (!(e->access & BOUND))
    fail(e, "is said to be elsewhere");
}

// What the program could not compute is anything.
static void say_everything(const struct entry *e) {
  for (int k = 0; k < count; k++)
    for (long b = 0; b < arrays[k].size; b++)
      arrays[k].bytes[b] |= e->access & READ ? SAID_READ : SAID_MAYBE;
}

static void elements(const struct entry *e, char *at, const long *pairs, long dimensions) {
  if (dimensions == 0) {
    say(e, at);
    return;
  }
  for (long d = 0; d < dimensions; d++)
    if (pairs[1 + 2 * d] == LONG_MAX) {
      say_everything(e);
      return;
    }
  for (long d = 0; d < dimensions; d++) {
    if (pairs[1 + 2 * d] <= 100000)
      continue;
    // The runtime takes all of the object where a bound does not fit.
    struct entry all = *e;
    all.access |= ANYWHERE;
    if (e->access & BOUND)
      say(&all, at);
    else
      fail(e, "has a count beyond reason");
    return;
  }
  for (long i = 0; i < pairs[1]; i++)
    elements(e, at + i * pairs[0], pairs + 2, dimensions - 1);
}

static void mark(const struct entry *e, long *values) {
  for (int k = 0; k < count; k++) {
    long from = (char *)values[0] - arrays[k].start, mask = 1;
    if (from < 0 || from >= arrays[k].size || marked == MARKS)
      continue;
    long elements = arrays[k].size / e->element + 1;
    while (mask < elements)
      mask = 2 * mask + 1;
    marks[marked].array = k;
    marks[marked].are_bits = !!(e->access & BITS);
    marks[marked].element = e->element;
    marks[marked].elements = elements;
    marks[marked].set = calloc(mask + 65, 1);
    values[0] = (long)arrays[k].start;
    values[1] = (long)marks[marked++].set;
    // In every second nest what is written is to be marked at once.
    static int asked;
    values[2] = mask | (e->access & COUNTED && asked++ % 2 ? LONG_MIN : 0);
    return;
  }
  fail(e, "is said to be elsewhere");
  exit(4);
}

// What is marked is written, no more and no less.
static void take_marks(void) {
  for (; marked > 0; marked--) {
    int k = marks[marked - 1].array;
    long element = marks[marked - 1].element;
    unsigned char *set = marks[marked - 1].set;
    for (long i = 0; i < marks[marked - 1].elements; i++)
      if (marks[marked - 1].are_bits ? set[i / 8] >> i % 8 & 1 : set[i])
        for (long b = i * element; b < (i + 1) * element && b < arrays[k].size; b++)
          arrays[k].bytes[b] |= SAID_WRITTEN;
    free(set);
  }
}

// The pointers of the tables that stand in front of an entry.
enum { POINTERS = 4096 };
static char *pointers[POINTERS];
static long found;

static void collect(char *at, const long *pairs, long dimensions, char **into, long *number) {
  if (dimensions == 0) {
    // A bound may go on behind a table, to what are no pointers.
    if (*number < POINTERS && array_at(at) >= 0)
      memcpy(&into[(*number)++], at, sizeof(char *));
    return;
  }
  for (long i = 0; i < pairs[1]; i++)
    collect(at + i * pairs[0], pairs + 2, dimensions - 1, into, number);
}

static void follow(const struct entry *e, const long *values) {
  char *next[POINTERS];
  long number = 0;
  for (long k = 0; k < found; k++)
    collect(pointers[k] + values[0], values + 1, e->dimensions, next, &number);
  memcpy(pointers, next, sizeof next);
  found = number;
}

// The least and the largest number of each of the tables that stand in front of an entry.
enum { TABLES = 4 };
static struct {
  int some;
  long least, most;
} numbers[TABLES];
static int tables;

static void compare(const struct entry *e, const char *at, const long *pairs, long dimensions) {
  if (dimensions > 0) {
    for (long i = 0; i < pairs[1]; i++)
      compare(e, at + i * pairs[0], pairs + 2, dimensions - 1);
    return;
  }
  int is_signed = !!(e->access & SIGNED);
  long number = e->element == 8   ? *(long *)at
                : e->element == 4 ? (is_signed ? *(int *)at : (long)*(unsigned *)at)
                : e->element == 2 ? (is_signed ? *(short *)at : *(unsigned short *)at)
                                  : (is_signed ? *(signed char *)at : *(unsigned char *)at);
  if ((e->access & NEGATIVE_UNUSED && number < 0) || (e->access & ZERO_UNUSED && number == 0) ||
      (e->access & MINUS_ONE_UNUSED && (is_signed ? number == -1 : number == (1L << 8 * e->element) - 1)))
    return;
  int some = numbers[tables].some;
  numbers[tables].least = some && numbers[tables].least < number ? numbers[tables].least : number;
  numbers[tables].most = some && numbers[tables].most > number ? numbers[tables].most : number;
  numbers[tables].some = 1;
}

static void between(const struct entry *e, const long *values) {
  long least = 0, most = 0, stride = 1 + tables, corners = 2 * e->dimensions / stride, some = 1, known = 1;
  for (int t = 0; t < tables; t++)
    some &= numbers[t].some;
  for (long c = 0; c < corners; c++) {
    const long *corner = values + 1 + c * stride;
    long low = corner[0], high = corner[0];
    known &= corner[0] != 0x7fffffffffffffff;
    for (int t = 0; t < tables; t++) {
      long factor = corner[1 + t], a = factor * numbers[t].least, b = factor * numbers[t].most;
      low += a < b ? a : b;
      high += a < b ? b : a;
    }
    least = c == 0 || low < least ? low : least;
    most = c == 0 || high > most ? high : most;
  }
  if (!some)
    return;
  for (int k = 0; k < count; k++) {
    long from = (char *)values[0] - arrays[k].start;
    if (from < 0 || from >= arrays[k].size)
      continue;
    for (long b = 0; b < arrays[k].size; b++)
      if (!known || (b >= from + least && b < from + most + e->element))
        arrays[k].bytes[b] |= SAID_READ;
    return;
  }
  fail(e, "is said to be elsewhere");
}

// The entry that says where the next one reads, and its values.
static const struct entry *places;
static const long *of_places;

// Whether the elements of a read could be told turn by turn.
static int read_at_places(void) {
  long turns = of_places[1];
  if (turns < 0 || turns > 100000)
    return 0;
  for (long turn = 0; turn < turns; turn++) {
    char *at = (char *)((long (*)(long, const long *))of_places[0])(turn, of_places + 2);
    int k = array_at(at);
    // A turn may not come to the read, and have no place for it.
    for (long b = 0; k >= 0 && b < places->element && at + b < arrays[k].start + arrays[k].size; b++)
      arrays[k].bytes[at + b - arrays[k].start] |= SAID_READ;
  }
  return 1;
}

void okl_mpi_sections(const struct table *t, long *computed) {
  since++;
  long all[t->value_count], *values = all;
  for (long k = 0; k < t->value_count; k++)
    all[k] = (t->values[k].computed < 0 ? 0 : computed[t->values[k].computed]) + (long)t->values[k].variable +
             t->values[k].constant;
  for (long k = 0; k < t->count; k++) {
    const struct entry *e = &t->entries[k];
    int empty = 0;
    if (e->access & MARKED) {
      mark(e, computed + t->values[values - all].computed);
      values += 1 + 2 * e->dimensions;
      continue;
    }
    if (e->access & BETWEEN) {
      between(e, values);
      tables = 0;
      values += 1 + 2 * e->dimensions;
      continue;
    }
    if (e->access & PLACES) {
      places = e;
      of_places = values;
      values += 1 + 2 * e->dimensions;
      continue;
    }
    if (e->access & NUMBERS) {
      numbers[tables].some = 0;
      compare(e, (char *)values[0], values + 1, e->dimensions);
      tables++;
      values += 1 + 2 * e->dimensions;
      continue;
    }
    // What the program could not compute is not empty.
    int known = 1;
    for (long d = 0; d < e->dimensions; d++) {
      known &= values[2 + 2 * d] != 0x7fffffffffffffff;
      empty |= values[2 + 2 * d] <= 0;
    }
    empty &= known;
    if (!(e->access & RELATIVE)) {
      pointers[0] = 0;
      found = 1;
    }
    if (empty)
      found = 0;
    // The bound of what is read at places holds, too: one or the other is looked at.
    if (places && since % 2 && read_at_places())
      found = 0;
    places = NULL;
    if (e->access & TABLE)
      follow(e, values);
    else
      for (long p = 0; p < found; p++)
        elements(e, pointers[p] + values[0], values + 1, e->dimensions);
    values += 1 + 2 * e->dimensions;
  }
}

// After a kernel's region and its shadow. One that declares nothing is left to the pages, and so are the reads of one that
// may read elsewhere.
void shadow_region(int kernel) {
  static const struct {
    int is, isnt;
    const char *what;
  } wrong[] = {
      {IS_READ, SAID_READ | SAID_WRITTEN | SAID_MAYBE, "reads undeclared bytes"},
      {IS_WRITTEN, SAID_WRITTEN | SAID_MAYBE, "writes undeclared bytes"},
      {SAID_WRITTEN, IS_WRITTEN, "does not write what it declares to write"},
  };
  static int region;
  region++;
  const char *elsewhere = getenv("SHADOW_READS_ELSEWHERE");
  int reads_elsewhere = elsewhere && strtoul(elsewhere, NULL, 10) >> kernel & 1;
  take_marks();
  for (int k = 0; k < count; k++) {
    for (int w = reads_elsewhere; w < 3; w++)
      for (long b = 0; since > 0 && b < arrays[k].size; b++)
        if ((arrays[k].bytes[b] & wrong[w].is) && !(arrays[k].bytes[b] & wrong[w].isnt)) {
          printf("region %d: array %d, byte %ld: the kernel %s\n", region, k, b, wrong[w].what);
          failures++;
          break;
        }
    memset(arrays[k].bytes, 0, arrays[k].size);
  }
  since = 0;
}

void shadow_check(const char *run) {
  if (failures > 0) {
    printf("in %s\n", run);
    exit(1);
  }
  for (int k = 0; k < count; k++)
    free(arrays[k].bytes);
  count = 0;
}

int shadow_end(void) { return failures > 0; }
