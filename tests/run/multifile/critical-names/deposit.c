struct account {
  long balance, entries;
};
extern struct account account;
extern int unnamed;

void deposit(long amount) {
#pragma omp critical(account)
  {
    long seen = account.balance;
    account.entries++;
    account.balance = seen + amount;
  }
#pragma omp critical
  unnamed -= (int)amount;
}
