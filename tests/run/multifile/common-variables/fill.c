int shared_counter;
double shared_array[400];

void fill(void) {
#pragma omp parallel for
  for (int i = 0; i < 400; i++) shared_array[i] += i;
  shared_counter += 10;
}
