// Who connects to the port at which a rank listens for others, and is not of this job, is closed, and disturbs nobody:
// some say nothing, some leave at once, some talk as if they were asked for a page.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,self OKL_SECTIONS=0 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
//
// CHECK: ports {{[1-9]}}, closed all
// CHECK-NEXT: sum 49995000
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { strangers = 40, most = 8 };

// The ports at which a process listens at any address.
static int ports(int process, int *found) {
  static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
  int count = 0;
  for (int table = 0; table < 2; table++) {
    FILE *lines = fopen(tables[table], "r");
    char line[1000], address[64], target[64], link[64];
    while (lines && fgets(line, sizeof line, lines)) {
      unsigned port, state, inode;
      if (sscanf(line, " %*d: %63[0-9A-F]:%x %*s %x %*s %*s %*s %*u %*u %u", address, &port, &state, &inode) != 4) continue;
      if (state != 10 || strspn(address, "0") != strlen(address)) continue;
      for (int own = 3; own < 256 && count < most; own++) {
        char file[64];
        snprintf(file, sizeof file, "/proc/%d/fd/%d", process, own);
        long length = readlink(file, link, sizeof link - 1);
        link[length > 0 ? length : 0] = 0;
        snprintf(target, sizeof target, "socket:[%u]", inode);
        if (strcmp(target, link) == 0) found[count++] = (int)port;
      }
    }
    if (lines) fclose(lines);
  }
  return count;
}

static int come(int port) {
  int made = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct timeval limit = {10, 0};
  setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(made, (struct sockaddr *)&place, sizeof place)) perror("connect");
  return made;
}

// Whether the other end has closed it.
static int is_closed(int stranger) {
  char bytes[64];
  long got;
  while ((got = recv(stranger, bytes, sizeof bytes, 0)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

int main(void) {
  int n = 10000, processes[2], silent[2 * most][strangers], loud[strangers], at[2 * most], all = 1;
  double *a = malloc(n * sizeof *a), sum = 0;
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp parallel
  processes[omp_get_thread_num()] = gettid();
  int count = ports(processes[0], at);
  count += ports(processes[1], at + count);
  char page[88] = {48};
  page[8] = 1;
  page[25] = 16;
  for (int port = 0; port < count; port++) {
    for (int i = 0; i < strangers; i++) silent[port][i] = come(at[port]);
    for (int i = 0; i < strangers; i++) close(come(at[port]));
    for (int i = 0; i < strangers; i++)
      if (send(loud[i] = come(at[port]), page, sizeof page, MSG_NOSIGNAL) < 0) perror("send");
    for (int i = 0; i < strangers; i++) all &= is_closed(loud[i]), close(loud[i]);
  }
  printf("ports %d, closed %s\n", count, all ? "all" : "some");
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[n - 1 - i];
  for (int port = 0; port < count; port++)
    for (int i = 0; i < strangers; i++) close(silent[port][i]);
  printf("sum %.15g\n", sum);
  return 0;
}
