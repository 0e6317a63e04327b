// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_file.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_AVRO

#include <avro.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace htmtrace {
namespace {

// Engines read one block at once. A row takes about 60 bytes.
constexpr size_t kBlockBytes = 256 << 10;

}  // namespace

struct AvroFile::Library {
  avro_schema_t schema = nullptr;
  avro_file_writer_t writer = nullptr;
  FILE* file = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (writer != nullptr) avro_file_writer_close(writer);
    if (schema != nullptr) avro_schema_decref(schema);
    if (file != nullptr) std::fclose(file);
  }
};

bool AvroFile::can_write() {
  return true;
}

AvroFile::AvroFile(const std::filesystem::path& path, const RowSchema& schema)
    : library_(std::make_unique<Library>()), path_(path) {
  const std::string json = avro_schema(schema);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) throw Error("cannot create " + path.string(), errno);
  library_->file = ::fdopen(fd, "wb");
  if (library_->file == nullptr) {
    ::close(fd);
    throw Error("cannot create " + path.string(), errno);
  }
  if (avro_schema_from_json_length(json.data(), json.size(), &library_->schema) != 0 ||
      avro_file_writer_create_with_codec_fp(library_->file, path.c_str(), /*should_close=*/0,
                                            library_->schema, &library_->writer, "deflate",
                                            kBlockBytes) != 0) {
    throw Error("cannot write " + path.string() + ": " + avro_strerror());
  }
}

AvroFile::~AvroFile() = default;

void AvroFile::end_row() {
  const std::string_view bytes = row_.bytes();
  if (avro_file_writer_append_encoded(library_->writer, bytes.data(),
                                      static_cast<int64_t>(bytes.size())) != 0) {
    throw Error("cannot write " + path_.string() + ": " + avro_strerror());
  }
}

void AvroFile::finish() {
  avro_file_writer_t const writer = std::exchange(library_->writer, nullptr);
  if (avro_file_writer_close(writer) != 0) {
    throw Error("cannot write " + path_.string() + ": " + avro_strerror());
  }
  FILE* const file = std::exchange(library_->file, nullptr);
  if (std::fclose(file) != 0) throw Error("cannot write " + path_.string(), errno);
}

}  // namespace htmtrace

#else

namespace htmtrace {

struct AvroFile::Library {};

bool AvroFile::can_write() {
  return false;
}

AvroFile::AvroFile(const std::filesystem::path& path, const RowSchema&) : path_(path) {
  throw Error("cannot write " + path.string() + ": htmtrace was built without libavro");
}

AvroFile::~AvroFile() = default;
void AvroFile::end_row() {}
void AvroFile::finish() {}

}  // namespace htmtrace

#endif
