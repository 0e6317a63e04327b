// SPDX-License-Identifier: GPL-2.0-or-later
// An output file that is whole or not there. The file has no name until publish(); where the file
// system has no such files, it has a hidden name of its own. A failed or killed command therefore
// leaves an old file of the same name as it was. All files and folders are private, unless --mode
// widens the access.
//
// A path that leads to a device, a pipe or a socket is a stream: it gets all bytes at once, and
// publish() has no effect.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/fd.h"

namespace htmtrace {

enum class Existing : uint8_t { kRefuse, kReplace };

// The permissions of new files, 0600 at first. Folders can also be searched by whoever may read
// them. Call this before the first file is created.
void set_file_mode(mode_t mode);

// Returns the name for which a NewFile made this hidden name; empty if no NewFile made it. Such a
// file stays when the program is killed.
std::string name_of_hidden(std::string_view hidden);

// Creates the folder and its missing parents. Throws Error.
void create_folders(const std::filesystem::path& folder);

class NewFile {
 public:
  // Throws Error, also when `path` exists and `existing` is kRefuse, and when `path` is a symbolic
  // link, unless it leads to a stream: neither the link nor its target is ever replaced.
  static NewFile create(const std::filesystem::path& path, Existing existing);

  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  // Removes an unpublished file.
  ~NewFile();

  int fd() const { return fd_.get(); }
  const std::filesystem::path& path() const { return path_; }
  bool is_stream() const { return stream_; }
  bool is_published() const { return published_; }

  // Appends all bytes. Throws Error.
  void write(std::span<const char> bytes);

  // Gives the file its name. Replaces an old file if `existing` was kReplace, and fails if one has
  // appeared otherwise. The descriptor stays open. Returns 0 or errno; further calls return 0.
  int publish();

  // Closes the descriptor, and gives the file a hidden name that only publish() changes: for many
  // files that appear together. Returns 0 or errno.
  int set_aside();

  // Closes the descriptor, and publishes the file unless the file system reports a late failure.
  // Returns 0 or errno.
  int finish();

  // Waits until the published name is on the disk. Returns 0 or errno. Returns 0 also if the
  // folder cannot be read, or if its file system has no fsync(2) for folders.
  int sync_name() const;

  // Closes the descriptor, and removes the file, also after publish(), unless another file has its
  // name by now. Streams stay. Returns 0, or errno if a published file stays.
  int discard();

 private:
  NewFile(std::filesystem::path path, Existing existing);
  bool open_stream();
  int open_unnamed();
  int open_hidden();
  int name_hidden();
  int claim_name() const;
  int close_now();
  void remove_hidden();
  int unpublish();

  std::filesystem::path path_;
  std::string name_;  // the last part of the path
  Existing existing_;
  Fd folder_;
  Fd fd_;
  bool stream_ = false;
  bool published_ = false;
  std::string hidden_;  // empty: the file has no name, or its final name
  // Device and inode of a file whose descriptor set_aside() has closed.
  std::optional<std::pair<dev_t, ino_t>> identity_;
};

}  // namespace htmtrace
