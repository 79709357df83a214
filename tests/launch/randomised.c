// Where the system forbids running without address randomisation, a program linked with -no-pie runs,
// and one that is not says what to do. This file is the program and, with -DJAIL, the launcher that
// forbids it.
//
// RUN: clang-22 -O1 -DJAIL %s -o %t.jail
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -no-pie %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.fixed
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.moving
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t.jail %t.fixed | FileCheck %s
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 3 %t.jail %t.moving 2>&1 | FileCheck --check-prefix=REFUSED %s
//
// CHECK: sum 4950 of 3 threads
// REFUSED: have the program at different addresses: address randomisation cannot be switched off here (the personality system call is denied); link the program with -no-pie
#ifdef JAIL
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    return 2;
  execv(argv[1], argv + 1);
  return 2;
}
#else
#include <omp.h>
#include <stdio.h>

int table[100];

int main(void) {
  int sum = 0, threads = 0;
  for (int i = 0; i < 100; i++) table[i] = i;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += table[i];
#pragma omp master
    threads = omp_get_num_threads();
  }
  printf("sum %d of %d threads\n", sum, threads);
  return 0;
}
#endif
