// A critical section of one name excludes its namesake in another source file, not the unnamed one.
// threads: any
#include <stdio.h>

struct account {
  long balance, entries;
};
struct account account;
int unnamed;
void deposit(long amount);

int main(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 100; i++) {
    if (i % 2) {
      deposit(i);
    } else {
#pragma omp critical(account)
      {
        long seen = account.balance;
        account.entries++;
        account.balance = seen - i;
      }
    }
#pragma omp critical
    unnamed += i;
  }
  printf("%ld %ld %d\n", account.balance, account.entries, unnamed);
  return 0;
}
