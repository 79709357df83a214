// OKL_TIMELINE writes when each rank did what: Chrome's trace format, one file for the job. It says so where
// it does not hold everything. That the file can be written is known before the program starts.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_TIMELINE=%t.json mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=OUTPUT %s
// RUN: python3 -m json.tool --compact %t.json > /dev/null
// RUN: FileCheck --check-prefixes=EVENTS,ONE %s < %t.json
// RUN: env OKL_RANKS_PER_NODE=1 OKL_TIMELINE=%t.json mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck --check-prefix=OUTPUT %s
// RUN: python3 -m json.tool --compact %t.json > /dev/null
// RUN: FileCheck --check-prefixes=EVENTS,NODES %s < %t.json
// RUN: env OKL_TIMELINE=%t.json OKL_TIMELINE_EVENTS=2 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=CUT %s
// RUN: python3 -m json.tool --compact %t.json > /dev/null
// RUN: grep -c '"ph":"X"' %t.json | FileCheck --check-prefix=KEPT %s
// RUN: FileCheck --check-prefix=CUTFILE %s < %t.json
// RUN: not env OKL_TIMELINE=%t.none/file mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: not env OKL_TIMELINE_EVENTS=-3 %t 2>&1 | FileCheck --check-prefix=NUMBER %s
//
// OUTPUT: sum 4192254
//
// EVENTS:     {"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"rank 0"}}
// EVENTS:     {"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"rank 1"}}
// EVENTS-DAG: {"name":"{{.*}}timeline.c:[[#@LINE+29]]","cat":"region","ph":"X","pid":0,"tid":0,"ts":{{[0-9]+\.[0-9]+}},"dur":{{[0-9]+\.[0-9]+}},"args":{"thread":0,"threads":{{[23]}}}}
// EVENTS-DAG: {"name":"{{.*}}timeline.c:[[#@LINE+28]]","cat":"region","ph":"X","pid":1,"tid":0,"ts":{{[0-9.]+}},"dur":{{[0-9.]+}},"args":{"thread":1,"threads":{{[23]}}}}
// EVENTS-DAG: {"name":"barrier","cat":"barrier","ph":"X","pid":1,"tid":0,"ts":{{[0-9.]+}},"dur":{{[0-9.]+}},"args":{"at":"{{.*}}timeline.c:[[#@LINE+40]]"}}
// EVENTS-DAG: {"name":"waiting","cat":"waiting","ph":"X","pid":0,{{.*}}}
// EVENTS-DAG: {"name":"end of region","cat":"barrier","ph":"X","pid":0,{{.*}},"args":{"at":"{{.*}}timeline.c:[[#@LINE+29]]"}}
// EVENTS-DAG: {"name":"reduction","cat":"reduction","ph":"X","pid":1,{{.*}},"args":{"at":"{{.*}}timeline.c:[[#@LINE+30]]"}}
// EVENTS-DAG: {"name":"lock","cat":"lock","ph":"X","pid":0,{{.*}},"args":{"at":"{{.*}}timeline.c:[[#@LINE+34]]","lock":"0x{{[0-9a-f]+}}"}}
// EVENTS-DAG: {"name":"copy","cat":"data","ph":"X","pid":1,{{.*}},"args":{"bytes":8,"from":0,"pieces":1,"object":"a + {{[0-9]+}} of {{.*}}timeline.c"}}
// EVENTS-DAG: {"name":"read fault","cat":"fault","ph":"X","pid":1,{{.*}},"args":{"at":"{{.*}}timeline.c:[[#@LINE+29]]","object":"place + {{[0-9]+}} of {{.*}}timeline.c"}}
// EVENTS-DAG: {"name":"fetch pages","cat":"data","ph":"X","pid":1,{{.*}},"args":{"bytes":4096,"from":0,"object":"place + {{[0-9]+}} of {{.*}}timeline.c"}}
// ONE:        ],"displayTimeUnit":"ns","otherData":{"rank 0":"all {{[0-9]+}} events; the clock of rank 0's machine","rank 1":"all {{[0-9]+}} events; the clock of rank 0's machine"}}
// The ranks have one clock here: what is measured between them is small.
// NODES:      "otherData":{"rank 0":"all {{[0-9]+}} events; the clock of rank 0's machine","rank 1":"all {{[0-9]+}} events; {{-?[0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?}} ns are added to its clock, which may be wrong by {{[0-9]+}} ns","rank 2":
//
// CUT: okl: rank 0: warning: the timeline {{.*}}.json holds the first 2 events of each rank; there were up to [[MOST:[0-9]+]]: OKL_TIMELINE_EVENTS=[[MOST]] keeps all
// Two regions and two other events of each rank.
// KEPT: {{^8$}}
// CUTFILE: "otherData":{"rank 0":"cut: the first 4 of {{[0-9]+}} events;
// WRONG: okl: rank 0: OKL_TIMELINE={{.*}}.none/file: the file cannot be written: No such file or directory
// NUMBER: okl: rank 0: OKL_TIMELINE_EVENTS=-3: valid values are whole numbers from 1
#include <omp.h>
#include <stdio.h>
enum { N = 2048 };
double a[N], b[N], field[N];
int place[N];

int main(void) {
  double sum = 0;
  for (int i = 0; i < N; i++) place[i] = (i * 5) % N;
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = i;
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++) b[i] = a[i - 1] + a[i + 1] + 2;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
      field[place[i]] = b[i];
      sum += b[i];
    }
#pragma omp critical
    omp_get_thread_num();
#pragma omp barrier
    // So that its pages are tracked.
    static omp_lock_t lock;
    if (omp_get_num_threads() > 99) omp_set_lock(&lock);
  }
  printf("sum %.0f\n", sum);
  return 0;
}
