// A setting with a value that means nothing is an error that says what is valid.
// ranks: 1 2
// env: OKL_STATS=yes
// reference: none
// expect-exit: 70
// expect-stderr: OKL_STATS=yes: valid values are 0 and 1
int main(void) { return 0; }
