// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/parquet_group.h"

#include <algorithm>
#include <string_view>

#include "output/export/thrift_writer.h"

namespace htmtrace::parquet {
namespace {

// parquet.thrift, PageType.
constexpr int kDataPage = 0;
constexpr int kDictionaryPage = 2;

bool is_int(const Leaf& leaf) {
  return leaf.kind == FieldKind::kInt;
}

// Numbers that mostly increase in small steps. Other numbers repeat.
bool is_counter(const Leaf& leaf) {
  return leaf.kind == FieldKind::kLong && leaf.most_level == 0;
}

// Engines compare numbers with their sign.
int64_t signed_of(const Leaf& leaf, uint64_t value) {
  return is_int(leaf) ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
}

void find_bounds(const Leaf& leaf, std::span<const uint64_t> values, Chunk& chunk) {
  if (values.empty()) return;
  const auto is_less = [&](uint64_t a, uint64_t b) {
    return signed_of(leaf, a) < signed_of(leaf, b);
  };
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end(), is_less);
  const auto text_of = [&](uint64_t value) {
    Bytes bytes;
    put_plain({&value, 1}, is_int(leaf) ? 4 : 8, bytes);
    return std::string(bytes.begin(), bytes.end());
  };
  chunk.least = text_of(*least);
  chunk.greatest = text_of(*greatest);
}

}  // namespace

void GroupEncoder::encode(const Rows& rows) {
  bytes_.clear();
  chunks_.clear();
  for (size_t i = 0; i < leaves_.size(); i++) {
    chunks_.push_back(
        encode_column(leaves_[i], rows.columns()[i],
                      leaves_[i].repeated ? rows.repeats() : std::span<const uint8_t>{}));
  }
}

Chunk GroupEncoder::encode_column(const Leaf& leaf, const Rows::Column& column,
                                  std::span<const uint8_t> repeats) {
  const std::span<const uint64_t> values = column.values.all();
  const std::span<const uint8_t> levels = column.levels.all();
  Chunk chunk;
  chunk.begin = chunk.data_begin = bytes_.size();
  chunk.slots = leaf.most_level == 0 ? values.size() : levels.size();
  chunk.nulls = chunk.slots - values.size();
  page_.clear();
  if (leaf.repeated) put_levels(repeats, 1);
  if (leaf.most_level != 0) put_levels(levels, leaf.most_level == 1 ? 1 : 2);
  if (leaf.kind == FieldKind::kName) {
    encode_texts(leaf.names, values, chunk);
  } else if (leaf.kind == FieldKind::kText) {
    const std::vector<std::string_view> texts(column.texts.all().begin(), column.texts.all().end());
    encode_texts(texts, values, chunk);
  } else {
    encode_numbers(leaf, values, chunk);
  }
  end_data(chunk);
  return chunk;
}

void GroupEncoder::encode_texts(std::span<const std::string_view> texts,
                                std::span<const uint64_t> numbers, Chunk& chunk) {
  dictionary_page_.clear();
  for (const std::string_view text : texts) put_text(text, dictionary_page_);
  end_dictionary(texts.size(), chunk);
  indices_.assign(numbers.begin(), numbers.end());
  put_indices(indices_, texts.size());
  std::vector<bool> used(texts.size());
  for (const uint64_t number : numbers) used[number] = true;
  for (size_t i = 0; i < texts.size(); i++) {
    if (!used[i]) continue;
    if (!chunk.least || texts[i] < *chunk.least) chunk.least = texts[i];
    if (!chunk.greatest || texts[i] > *chunk.greatest) chunk.greatest = texts[i];
  }
}

void GroupEncoder::encode_numbers(const Leaf& leaf, std::span<const uint64_t> values,
                                  Chunk& chunk) {
  if (!is_counter(leaf) && dictionary_.build(values)) {
    find_bounds(leaf, dictionary_.entries(), chunk);
    dictionary_page_.clear();
    put_plain(dictionary_.entries(), is_int(leaf) ? 4 : 8, dictionary_page_);
    end_dictionary(dictionary_.entries().size(), chunk);
    put_indices(dictionary_.indices(), dictionary_.entries().size());
    return;
  }
  find_bounds(leaf, values, chunk);
  if (is_int(leaf)) {
    chunk.encoding = Encoding::kPlain;
    put_plain(values, 4, page_);
  } else {
    chunk.encoding = Encoding::kDeltaBinaryPacked;
    put_deltas(values, page_);
  }
}

// The size of the levels comes first.
void GroupEncoder::put_levels(std::span<const uint8_t> levels, unsigned width) {
  const size_t begin = page_.size();
  page_.resize(begin + sizeof(uint32_t));
  put_runs(levels, width, page_);
  const size_t size = page_.size() - begin - sizeof(uint32_t);
  for (size_t i = 0; i < sizeof(uint32_t); i++) page_[begin + i] = static_cast<char>(size >> 8 * i);
}

// Each index has whole bytes, so that the codec finds the repetitions of a loop.
void GroupEncoder::put_indices(std::span<const uint16_t> indices, size_t entries) {
  const unsigned width = entries <= 256 ? 8 : 16;
  page_.push_back(static_cast<char>(width));
  put_runs(indices, width, page_);
}

void GroupEncoder::end_dictionary(size_t entries, Chunk& chunk) {
  chunk.encoding = Encoding::kRleDictionary;
  end_page(kDictionaryPage, dictionary_page_, chunk, [&](ThriftWriter& writer) {
    writer.structure(7, [&] {  // DictionaryPageHeader
      writer.i32(1, static_cast<int32_t>(entries));
      writer.i32(2, static_cast<int32_t>(Encoding::kPlain));
    });
  });
  chunk.data_begin = bytes_.size();
}

void GroupEncoder::end_data(Chunk& chunk) {
  end_page(kDataPage, page_, chunk, [&](ThriftWriter& writer) {
    writer.structure(5, [&] {  // DataPageHeader
      writer.i32(1, static_cast<int32_t>(chunk.slots));
      writer.i32(2, static_cast<int32_t>(chunk.encoding));
      writer.i32(3, static_cast<int32_t>(Encoding::kRle));
      writer.i32(4, static_cast<int32_t>(Encoding::kRle));
    });
  });
  chunk.end = bytes_.size();
}

template <class PageHeader>
void GroupEncoder::end_page(int type, Bytes& page, Chunk& chunk, const PageHeader& header) {
  const std::span<const char> stored = packer_.pack(page);
  const size_t begin = bytes_.size();
  ThriftWriter writer(bytes_);
  writer.structure([&] {  // PageHeader
    writer.i32(1, type);
    writer.i32(2, static_cast<int32_t>(page.size()));
    writer.i32(3, static_cast<int32_t>(stored.size()));
    header(writer);
  });
  chunk.plain_bytes += bytes_.size() - begin + page.size();
  bytes_.insert(bytes_.end(), stored.begin(), stored.end());
}

}  // namespace htmtrace::parquet
