// Barriers that not all work items are sure to come to are errors at their lines, whatever hides it.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 -ferror-limit=0 $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
#include "../../lower/cpu/okl/okl.h"

// CHECK-DAG: meeting.cpp:[[# @LINE + 10]]:{{.*}} error: this barrier stands under a condition or in a loop inside of an @inner loop that may differ between work items: it is not sure that all work items of the block come to it
// CHECK-DAG: meeting.cpp:[[# @LINE + 17]]:{{.*}} error: this barrier stands under a condition
// CHECK-DAG: meeting.cpp:[[# @LINE + 20]]:{{.*}} error: this barrier stands under a condition
// CHECK-DAG: meeting.cpp:[[# @LINE + 24]]:{{.*}} error: this barrier stands under a condition
// CHECK-DAG: meeting.cpp:[[# @LINE + 29]]:{{.*}} error: this barrier stands under a condition
KERNEL void conditions(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    EXCLUSIVE int own;
    for (INNER int i = 0; i < 4; i++)
      for (int k = 0; k < a[0]; k++) {
        BARRIER;
        a[i] = own = k;
      }
    for (INNER int i = 0; i < 4; i++) {
      int m = n;
      if (i > 2)
        m = 3;
      if (m > 2)
        BARRIER;
    }
    for (INNER int i = 0; i < 4; i++)
      if (own > 2)
        BARRIER;
    for (INNER int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) {
        if (k == i)
          break;
        BARRIER;
      }
    for (INNER int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) {
        if (a[k] == i)
          k++;
        BARRIER;
        a[i] = k;
      }
  }
}
