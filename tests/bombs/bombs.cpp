// SPDX-License-Identifier: GPL-2.0-or-later
// bombs [--full] HTMTRACE [NAME...]: runs the rows of the table, or the rows with these names. A
// reader may take 256 MiB and four bytes for each byte of its files, and 10 seconds for each
// 16 MiB. --full makes the inputs as large as in the reports of the faults; the quick form makes
// some of them smaller.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/big_endian.h"
#include "tests/bombs/bomb.h"
#include "tests/encoder/power10.h"

namespace htmtrace::bombs {
namespace {

namespace fs = std::filesystem;

// Sanitizers need memory for each allocation and for its shadow, and several times the time.
#ifdef HTMTRACE_SANITIZED
constexpr uint64_t kMemoryFactor = 4;
constexpr double kTimeFactor = 40;  // and the machine may have other work
#else
constexpr uint64_t kMemoryFactor = 1;
constexpr double kTimeFactor = 1;
#endif
constexpr uint64_t kMostBytes = 256 << 20;
constexpr uint64_t kMostBytesPerByte = 4;
constexpr double kSecondsPerByte = 8.0 / (16 << 20);

[[noreturn]] void stop(const char* what) {
  std::perror(what);
  std::exit(2);
}

struct Run {
  int status = 0;  // as wait4(2) returns it
  uint64_t memory_bytes = 0;
  double seconds = 0;
};

// Runs `work` in a child process and returns its resources.
template <class Work>
Run run(const Work& work) {
  const pid_t child = ::fork();
  if (child < 0) stop("fork");
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  Run run;
  rusage usage{};
  while (::wait4(child, &run.status, 0, &usage) < 0) {
    if (errno != EINTR) stop("wait4");
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  run.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  run.memory_bytes = static_cast<uint64_t>(usage.ru_maxrss) << 10;
  return run;
}

void execute(const std::string& program, const Bomb& bomb, uint64_t memory, double seconds) {
  std::vector<const char*> arguments = {program.c_str()};
  for (const std::string& argument : bomb.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  // A bomb that goes off must not harm the machine.
  const auto cpu = static_cast<rlim_t>(2 * seconds + 1);
  const rlimit time{cpu, cpu};
  ::setrlimit(RLIMIT_CPU, &time);
  // Stacks of threads count in full.
  constexpr uint64_t kStacks = uint64_t{4} << 30;
  const rlimit room{memory + kStacks, memory + kStacks};
  if (kMemoryFactor == 1) ::setrlimit(RLIMIT_DATA, &room);
  const rlimit core{0, 0};
  ::setrlimit(RLIMIT_CORE, &core);
  // Freed memory counts as used while the sanitizer keeps it.
  ::setenv("ASAN_OPTIONS", "quarantine_size_mb=8:malloc_context_size=1", 1);
  const int out = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int messages = ::open("messages", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  ::execv(program.c_str(), const_cast<char* const*>(arguments.data()));
  std::_Exit(127);
}

uint64_t size_of_files() {
  uint64_t sum = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(".")) {
    if (entry.is_regular_file()) sum += entry.file_size();
  }
  return sum;
}

std::string first_message() {
  std::string text(400, '\0');
  std::FILE* const file = std::fopen("messages", "rb");
  if (file == nullptr) return {};
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text.substr(0, text.find('\n'));
}

std::string verdict(const Bomb& bomb, const Run& done, uint64_t memory, double seconds) {
  if (done.memory_bytes > memory) return "takes too much memory";
  if (done.seconds > seconds) return "takes too much time";
  if (WIFSIGNALED(done.status)) return std::string("ended by ") + strsignal(WTERMSIG(done.status));
  const int status = WEXITSTATUS(done.status);
  // 3: done, but the input is incomplete.
  if (status != 0 && status != 1 && status != 3) return "wrong exit status";
  if (status == 1 && bomb.outcome == Outcome::kRead) return "refused";
  if (first_message().find("out of memory") != std::string::npos) return "out of memory";
  return {};
}

bool passes(const std::string& program, const Bomb& bomb, unsigned scale) {
  std::string folder = (fs::temp_directory_path() / "bomb.XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) stop(folder.c_str());
  fs::current_path(folder);
  // This process stays small: the measured maximum includes the memory that a child has before it
  // executes the program.
  if (run([&] { bomb.make(scale); }).status != 0) stop(bomb.name);
  const uint64_t size = size_of_files();
  const uint64_t memory = kMemoryFactor * (kMostBytes + kMostBytesPerByte * size);
  const double seconds =
      kTimeFactor * (bomb.least_seconds + kSecondsPerByte * static_cast<double>(size));
  const Run done = run([&] { execute(program, bomb, memory, seconds); });
  const std::string fault = verdict(bomb, done, memory, seconds);
  std::printf("%-26s %8.2f MB  %7.1f MiB  %6.2f s  status %3d  %s\n", bomb.name,
              static_cast<double>(size) / 1e6, static_cast<double>(done.memory_bytes) / (1 << 20),
              done.seconds, WIFEXITED(done.status) ? WEXITSTATUS(done.status) : -1,
              fault.empty() ? "ok" : fault.c_str());
  if (!fault.empty()) std::printf("  message: %s\n", first_message().c_str());
  std::fflush(stdout);
  fs::current_path("/");
  fs::remove_all(folder);
  return fault.empty();
}

}  // namespace

File::File(const char* name) : fd_(::open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  if (fd_ < 0) stop(name);
}

File::~File() {
  write_out();
  ::close(fd_);
}

void File::put(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  constexpr size_t kEnoughBytes = 1 << 20;
  if (buffer_.size() >= kEnoughBytes) write_out();
}

void File::le(uint64_t value, size_t bytes) {
  std::array<std::byte, sizeof(value)> little{};
  for (size_t i = 0; i < bytes; i++) little.at(i) = static_cast<std::byte>(value >> 8 * i & 0xff);
  put(std::span(little).first(bytes));
}

void File::be64(uint64_t word) {
  std::array<std::byte, sizeof(word)> bytes{};
  store_be64(bytes.data(), word);
  put(bytes);
}

void put_instruction(File& file, uint64_t address, uint64_t msr) {
  constexpr uint32_t kNop = 0x60000000;
  file.be64(power10_info(kNop, address, false, false, kPower10NoOperand));
  file.be64(power10_msr(msr));
}

void put_line(File& file, uint64_t address) {
  constexpr uint64_t kRealMask = 0xffff'ffff'ffff;
  uint64_t words[kPower10IearaWords];
  power10_ieara(words, address, address & kRealMask);
  for (const uint64_t word : words) file.be64(word);
}

void File::write_out() {
  for (size_t at = 0; at < buffer_.size();) {
    const ssize_t written = ::write(fd_, buffer_.data() + at, buffer_.size() - at);
    if (written < 0) stop("write");
    at += static_cast<size_t>(written);
  }
  buffer_.clear();
}

}  // namespace htmtrace::bombs

int main(int argc, char** argv) {
  using namespace htmtrace::bombs;
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool full = !words.empty() && words.front() == "--full";
  if (full) words.erase(words.begin());
  if (words.empty() || words.front().starts_with('-')) {
    std::fputs("usage: bombs [--full] HTMTRACE [NAME...]\n", stderr);
    return 2;
  }
  const std::string program = std::filesystem::absolute(words.front()).string();
  words.erase(words.begin());
  std::vector<Bomb> table;
  for (const auto part : {recording_bombs, perf_data_bombs, symbol_bombs, debug_info_bombs,
                          dispatch_bombs, option_bombs}) {
    for (Bomb& bomb : part()) table.push_back(std::move(bomb));
  }
  for (const std::string& word : words) {
    if (std::ranges::find(table, word, &Bomb::name) != table.end()) continue;
    std::fprintf(stderr, "bombs: cannot run %s: no bomb has this name\n", word.c_str());
    return 2;
  }
  size_t runs = 0, faults = 0;
  for (const Bomb& bomb : table) {
    if (!words.empty() && std::ranges::find(words, bomb.name) == words.end()) continue;
    runs++;
    if (!passes(program, bomb, full ? 10 : 1)) faults++;
  }
  std::printf("%zu bombs, %zu faults\n", runs, faults);
  return faults == 0 ? 0 : 1;
}
