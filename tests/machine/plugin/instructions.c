// SPDX-License-Identifier: GPL-2.0-or-later
#include "instructions.h"

#include <pthread.h>
#include <stdlib.h>

#include "report.h"

enum { kBuckets = 1 << 18, kSlab = 4096 };

struct node {
  struct instruction instruction;
  struct node* next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node* buckets[kBuckets];
static struct node* slab;
static size_t slab_left;

static size_t bucket_of(const struct instruction* instruction) {
  const uint64_t mixed = (instruction->ea >> 2) * UINT64_C(0x9e3779b97f4a7c15);
  return (mixed ^ instruction->real >> 12) >> 20 & (kBuckets - 1);
}

static bool equal(const struct instruction* a, const struct instruction* b) {
  return a->ea == b->ea && a->real == b->real && a->words[0] == b->words[0] &&
         a->words[1] == b->words[1] && a->word_count == b->word_count;
}

static struct node* add(size_t bucket, const struct instruction* instruction) {
  if (slab_left == 0) {
    slab = calloc(kSlab, sizeof(*slab));
    if (slab == NULL) die("no memory for the guest's instructions");
    slab_left = kSlab;
  }
  struct node* node = &slab[--slab_left];
  node->instruction = *instruction;
  node->next = buckets[bucket];
  buckets[bucket] = node;
  return node;
}

const struct instruction* instructions_intern(const struct instruction* instruction) {
  const size_t bucket = bucket_of(instruction);
  pthread_mutex_lock(&lock);
  struct node* node = buckets[bucket];
  while (node != NULL && !equal(&node->instruction, instruction)) node = node->next;
  if (node == NULL) node = add(bucket, instruction);
  pthread_mutex_unlock(&lock);
  return &node->instruction;
}
