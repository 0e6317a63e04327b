// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_file.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_AVRO

#include <avro.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace htmtrace {
namespace {

// Engines read one block at once. A row takes about 60 bytes.
constexpr size_t kBlockBytes = 256 << 10;

}  // namespace

// libavro ignores failures of some writes, and leaks its writer after others. So the stream keeps
// the first failure, and hides it from the library.
struct AvroFile::Library {
  NewFile output;
  int reason = 0;  // errno of the first failed write
  avro_schema_t schema = nullptr;
  avro_file_writer_t writer = nullptr;
  FILE* file = nullptr;

  explicit Library(NewFile created) : output(std::move(created)) {
    const cookie_io_functions_t functions{
        .read = nullptr, .write = write, .seek = nullptr, .close = nullptr};
    file = ::fopencookie(this, "w", functions);
    if (file == nullptr) throw Error("cannot write " + output.path().string(), errno);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (writer != nullptr) avro_file_writer_close(writer);
    if (schema != nullptr) avro_schema_decref(schema);
    if (file != nullptr) std::fclose(file);
  }

  static ssize_t write(void* library, const char* bytes, size_t size) {
    Library& to = *static_cast<Library*>(library);
    size_t done = 0;
    while (done < size && to.reason == 0) {
      const ssize_t written = ::write(to.output.fd(), bytes + done, size - done);
      if (written >= 0) {
        done += static_cast<size_t>(written);
      } else if (errno != EINTR) {
        to.reason = errno;
      }
    }
    return static_cast<ssize_t>(size);
  }

  // `status` is the library's. Throws Error.
  void check(int status) const {
    if (reason != 0) throw Error("cannot write " + output.path().string(), reason);
    if (status == 0) return;
    throw Error("cannot write " + output.path().string() + ": " + avro_strerror());
  }
};

bool AvroFile::can_write() {
  return true;
}

AvroFile::AvroFile(NewFile file, const RowSchema& schema)
    : library_(std::make_unique<Library>(std::move(file))) {
  const std::string json = avro_schema(schema);
  Library& library = *library_;
  library.check(avro_schema_from_json_length(json.data(), json.size(), &library.schema));
  library.check(avro_file_writer_create_with_codec_fp(library.file, library.output.path().c_str(),
                                                      /*should_close=*/0, library.schema,
                                                      &library.writer, "deflate", kBlockBytes));
}

AvroFile::~AvroFile() = default;

void AvroFile::end_row() {
  const std::string_view bytes = row_.bytes();
  library_->check(avro_file_writer_append_encoded(library_->writer, bytes.data(),
                                                  static_cast<int64_t>(bytes.size())));
}

NewFile AvroFile::finish() {
  Library& library = *library_;
  library.check(avro_file_writer_close(std::exchange(library.writer, nullptr)));
  const int status = std::fclose(std::exchange(library.file, nullptr));
  library.check(status);
  return std::move(library.output);
}

}  // namespace htmtrace

#else

namespace htmtrace {

struct AvroFile::Library {};

bool AvroFile::can_write() {
  return false;
}

AvroFile::AvroFile(NewFile file, const RowSchema&) : library_() {
  throw Error("cannot write " + file.path().string() + ": htmtrace was built without libavro");
}

AvroFile::~AvroFile() = default;
void AvroFile::end_row() {}
NewFile AvroFile::finish() {
  throw Error("htmtrace was built without libavro");
}

}  // namespace htmtrace

#endif
