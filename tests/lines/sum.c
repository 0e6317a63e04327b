int values[64] = {1, 2};

static inline __attribute__((always_inline)) int scaled(int value) {
  return value * 3 + 1;
}

static inline __attribute__((always_inline)) int pair(int value) {
  int first = scaled(value);
  return first ^ scaled(value + 2);
}

int sum(int count) {
  int total = 0;
  for (int i = 0; i < count; i++) {
    total += pair(values[i & 63]);
  }
  return total;
}

int _start(int count) {
  return sum(count) + sum(count + 1);
}
