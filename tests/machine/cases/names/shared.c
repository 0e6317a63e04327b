// SPDX-License-Identifier: GPL-2.0-or-later
// shared - a library with an array.
volatile long shared_array[512];

void shared_work(void);
void shared_work(void) {
  for (int i = 0; i < 5000; i++) shared_array[i % 512] += i;
}
