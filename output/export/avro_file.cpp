// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_file.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_AVRO

#include <avro.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace htmtrace {
namespace {

// Engines read one block at once. A row takes about 60 bytes.
constexpr size_t kBlockBytes = 256 << 10;

// libavro does not check whether its allocator returns memory. An exception cannot pass C code, so
// the allocator jumps back to the caller of libavro, who no longer uses the library's objects.
std::jmp_buf* caller_of_library = nullptr;

void* allocate(void*, void* memory, size_t, size_t size) {
  if (size == 0) {
    std::free(memory);
    return nullptr;
  }
  void* const larger = std::realloc(memory, size);
  if (larger == nullptr && caller_of_library != nullptr) std::longjmp(*caller_of_library, 1);
  return larger;
}

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
    avro_set_allocator(allocate, nullptr);
    const cookie_io_functions_t functions{
        .read = nullptr, .write = write, .seek = nullptr, .close = nullptr};
    file = ::fopencookie(this, "w", functions);
    if (file == nullptr) throw Error("cannot write " + output.path().string(), errno);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    try {
      if (writer != nullptr) call([&] { return avro_file_writer_close(writer); });
    } catch (const std::exception&) {  // the file is dropped anyway
    }
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

  // Runs `work`, which calls libavro, returns the library's status, and has no objects with
  // destructors. Throws Error or std::bad_alloc.
  template <class Work>
  void call(const Work& work) {
    std::jmp_buf here;
    caller_of_library = &here;
    errno = 0;
    // NOLINTNEXTLINE(cert-err52-cpp): only frames of C code are between the jump and this line
    if (setjmp(here) != 0) {
      caller_of_library = nullptr;
      writer = nullptr;
      schema = nullptr;
      throw std::bad_alloc();
    }
    const int status = work();
    caller_of_library = nullptr;
    const int memory = errno;  // the libraries that libavro calls only return a failure
    if (reason != 0) throw Error("cannot write " + output.path().string(), reason);
    if (status == 0) return;
    if (memory == ENOMEM) throw std::bad_alloc();
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
  library.call(
      [&] { return avro_schema_from_json_length(json.data(), json.size(), &library.schema); });
  library.call([&] {
    return avro_file_writer_create_with_codec_fp(library.file, library.output.path().c_str(),
                                                 /*should_close=*/0, library.schema,
                                                 &library.writer, "deflate", kBlockBytes);
  });
}

AvroFile::~AvroFile() = default;

void AvroFile::end_row() {
  const std::string_view bytes = row_.bytes();
  library_->call([&] {
    return avro_file_writer_append_encoded(library_->writer, bytes.data(),
                                           static_cast<int64_t>(bytes.size()));
  });
}

NewFile AvroFile::finish() {
  Library& library = *library_;
  avro_file_writer_t const writer = std::exchange(library.writer, nullptr);
  library.call([&] { return avro_file_writer_close(writer); });
  FILE* const file = std::exchange(library.file, nullptr);
  library.call([&] { return std::fclose(file); });
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
