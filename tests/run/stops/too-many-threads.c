// More threads than a team can number are refused, not wrapped around.
// ranks: 2 3
// env: OMP_NUM_THREADS=2147483647
// reference: none
// expect-exit: 70
// expect-stderr: OMP_NUM_THREADS=2147483647: with
// skip-with: OKL_VERIFY=1
int main(void) { return 0; }
