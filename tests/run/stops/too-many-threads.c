// More threads than a team can number are refused, not wrapped around.
// ranks: 2
// env: OMP_NUM_THREADS=2147483647
// reference: none
// expect-exit: 70
// expect-stderr: OMP_NUM_THREADS=2147483647: with 2 ranks a team would have more than 131072 threads
// skip-with: OKL_VERIFY=1
int main(void) { return 0; }
