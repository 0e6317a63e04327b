// SPDX-License-Identifier: GPL-2.0-or-later
// "Debugging with GDB", appendix E: "Packets", "Stop Reply Packets", "General Query Packets".
#include "cli/replay/server.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/replay/registers.h"

namespace htmtrace {
namespace {

constexpr const char* kOk = "OK";

std::string error_reply(int number) {
  return fmt::format("E{:02x}", number);
}

// Splits at the first separator. The second part is empty if the text has no separator.
std::pair<std::string_view, std::string_view> split(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

// Removes the prefix. Returns false if the text does not have it.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

struct NumberPair {
  uint64_t first = 0;
  uint64_t second = 0;
};

// "ADDRESS,LENGTH" and similar.
std::optional<NumberPair> number_pair(std::string_view text) {
  const auto [left, right] = split(text, ',');
  const auto first = hex_number(left), second = hex_number(right);
  if (!first || !second) return std::nullopt;
  return NumberPair{.first = *first, .second = *second};
}

}  // namespace

void Server::run() {
  while (!done_ && connection_.receive(reader_)) {
    while (!done_) {
      const auto arrival = reader_.next();
      if (!arrival) break;
      take(*arrival);
    }
  }
}

void Server::take(const PacketReader::Arrival& arrival) {
  switch (arrival.kind) {
    case PacketReader::Kind::kAccepted:
    case PacketReader::Kind::kInterrupt:  // no thread runs
      return;
    case PacketReader::Kind::kSendAgain:
      done_ |= !connection_.send(last_sent_);
      return;
    case PacketReader::Kind::kBadChecksum:
      if (!confirms_) return send(error_reply(EBADMSG));
      done_ |= !connection_.send("-");
      return;
    case PacketReader::Kind::kTooLong:
      if (confirms_) done_ |= !connection_.send("+");
      return send(error_reply(E2BIG));
    case PacketReader::Kind::kPacket:
      break;
  }
  if (confirms_) done_ |= !connection_.send("+");
  const std::string reply = reply_to(arrival.payload);
  if (arrival.payload != "k") send(reply);
  if (std::exchange(no_confirmation_follows_, false)) confirms_ = false;
}

void Server::send(const std::string& reply) {
  last_sent_ = framed(reply);
  done_ |= !connection_.send(last_sent_);
}

Server::Reply Server::reply_to(std::string_view packet) {
  if (packet.empty()) return {};
  std::string_view rest = packet.substr(1);
  switch (packet.front()) {
    case '?':
      return stop_reply({});
    case 'q':
      return query(rest);
    case 'Q':
      if (packet != "QStartNoAckMode") return {};
      no_confirmation_follows_ = true;
      return kOk;
    case 'g':
      return registers();
    case 'p':
      return one_register(rest);
    case 'm':
      return memory(rest);
    case 'H':
      return set_thread(rest);
    case 'T':
      return thread_of(rest) ? kOk : error_reply(ESRCH);
    case 'Z':
    case 'z':
      return insert(packet);
    case 'v':
      if (packet == "vCont?") return "vCont;c;C;s;S";
      return take_prefix(rest, "Cont;") ? resume_by_action(rest) : Reply{};
    case 'D':
    case 'k':
      done_ = true;
      return kOk;
    default:
      return resume(packet);
  }
}

// ---- queries

Server::Reply Server::query(std::string_view packet) {
  if (packet == "C") return fmt::format("QC{:x}", current_ + 1);
  if (packet == "fThreadInfo") return thread_list();
  if (packet == "sThreadInfo") return "l";
  if (packet == "Attached") return "1";
  if (take_prefix(packet, "Supported")) return supported(packet);
  if (take_prefix(packet, "ThreadExtraInfo,")) return extra_info(packet);
  if (take_prefix(packet, "Rcmd,")) return run_monitor(packet);
  if (take_prefix(packet, "Xfer:features:read:target.xml:")) return part_of_description(packet);
  return {};
}

Server::Reply Server::supported(std::string_view features) {
  // gdb lists its features after a colon, separated by semicolons.
  features.remove_prefix(std::min<size_t>(features.size(), 1));
  while (!features.empty()) {
    const auto [feature, rest] = split(features, ';');
    reports_breakpoints_ |= feature == "swbreak+";
    features = rest;
  }
  return fmt::format(
      "PacketSize={:x};QStartNoAckMode+;ReverseStep+;ReverseContinue+;swbreak+;hwbreak+;"
      "vContSupported+;qXfer:features:read+",
      PacketReader::kMostPacketBytes);
}

Server::Reply Server::part_of_description(std::string_view range) {
  const auto part = number_pair(range);
  if (!part) return error_reply(EINVAL);
  const std::string& text = target_description();
  const auto begin = static_cast<size_t>(std::min<uint64_t>(part->first, text.size()));
  constexpr uint64_t kMost = PacketReader::kMostPacketBytes / 2;  // escaping can double the size
  const auto size = static_cast<size_t>(std::min(part->second, kMost));
  const bool last = text.size() - begin <= size;
  return (last ? "l" : "m") + text.substr(begin, size);
}

Server::Reply Server::thread_list() const {
  std::string list;
  for (size_t i = 1; i <= players_.size(); i++) {
    list += fmt::format("{}{:x}", list.empty() ? "m" : ",", i);
  }
  return list;
}

Server::Reply Server::extra_info(std::string_view digits) const {
  const auto thread = thread_of(digits);
  if (!thread) return error_reply(ESRCH);
  return hex_of_text(players_[*thread]->track().trace().describe());
}

Server::Reply Server::run_monitor(std::string_view digits) {
  const auto command = text_of_hex(digits);
  if (!command) return error_reply(EINVAL);
  const std::string output = monitor_.run(*command, current(), points_);
  // Two digits for each byte, after the letter O.
  constexpr size_t kMostText = PacketReader::kMostPacketBytes / 2 - 1;
  for (size_t at = 0; at < output.size(); at += kMostText) {
    send("O" + hex_of_text(std::string_view(output).substr(at, kMostText)));
  }
  return kOk;
}

// ---- threads

std::optional<size_t> Server::thread_of(std::string_view digits) const {
  const auto number = hex_number(digits);
  if (!number || *number == 0 || *number > players_.size()) return std::nullopt;
  return static_cast<size_t>(*number) - 1;
}

// "Hg1", "Hc-1". 0 and -1 stand for any thread and all threads: the current thread moves.
Server::Reply Server::set_thread(std::string_view operation) {
  if (operation.empty()) return error_reply(EINVAL);
  const std::string_view digits = operation.substr(1);
  const bool any = digits == "0" || digits == "-1";
  const auto thread = thread_of(digits);
  if (!any && !thread) return error_reply(ESRCH);
  switch (operation.front()) {
    case 'g':
      if (thread) current_ = *thread;
      return kOk;
    case 'c':
      to_resume_ = thread;
      return kOk;
    default:
      return {};
  }
}

// ---- state

Server::Reply Server::registers() {
  const Registers registers = current().registers();
  std::string digits;
  for (size_t i = 0; i < Registers::kCount; i++) digits += register_digits(registers, i, order_);
  return digits;
}

Server::Reply Server::one_register(std::string_view digits) {
  const auto number = hex_number(digits);
  if (!number || *number >= Registers::kCount) return error_reply(EINVAL);
  return register_digits(current().registers(), static_cast<size_t>(*number), order_);
}

// Replies with the known bytes from the address on, up to the first unknown byte. Replies with an
// error if the first byte is unknown.
Server::Reply Server::memory(std::string_view range) {
  const auto part = number_pair(range);
  if (!part) return error_reply(EINVAL);
  const uint64_t most = std::min<uint64_t>(part->second, PacketReader::kMostPacketBytes / 2);
  std::string digits;
  for (uint64_t i = 0; i < most; i++) {
    const auto byte = current().code_at(part->first + i);
    if (!byte) break;
    digits += fmt::format("{:02x}", *byte);
  }
  return digits.empty() && most != 0 ? error_reply(EFAULT) : digits;
}

// ---- motion

// "Z0,ADDRESS,KIND". Ignores conditions and commands that follow: gdb sends them only to a server
// that reports support.
Server::Reply Server::insert(std::string_view packet) {
  const bool adds = packet.front() == 'Z';
  const auto [type_digits, rest] = split(packet.substr(1), ',');
  const auto type = hex_number(type_digits);
  if (!type || *type >= kStopTypes) return {};
  const auto place = number_pair(split(rest, ';').first);
  if (!place) return error_reply(EINVAL);
  StopPoints::Point point{.type = static_cast<StopType>(*type), .address = place->first};
  if (*type >= static_cast<uint64_t>(StopType::kWrite)) {
    if (place->second == 0) return error_reply(EINVAL);
    point.bytes = place->second;
  }
  if (!adds) {
    points_.remove(point);
  } else if (!points_.add(point)) {
    return error_reply(ENOSPC);
  }
  return kOk;
}

// "c", "s", "bc", "bs", and "C" and "S" with a signal, which has no effect. An address from which
// to continue is an error.
Server::Reply Server::resume(std::string_view packet) {
  const bool backward = packet.front() == 'b';
  const std::string_view operation = packet.substr(backward ? 1 : 0);
  if (operation.empty()) return {};
  const char letter = operation.front();
  const bool with_signal = !backward && (letter == 'C' || letter == 'S');
  if (!with_signal && letter != 'c' && letter != 's') return {};
  if (with_signal ? !hex_number(operation.substr(1)) : operation.size() != 1) {
    return error_reply(EINVAL);
  }
  current_ = std::exchange(to_resume_, std::nullopt).value_or(current_);
  return move({.backward = backward, .single = letter == 's' || letter == 'S'});
}

// "s:1;c": only the thread of the first action moves. The first action without a thread applies to
// the current thread.
Server::Reply Server::resume_by_action(std::string_view actions) {
  const auto [action, thread_digits] = split(split(actions, ';').first, ':');
  if (action.empty()) return error_reply(EINVAL);
  const char letter = action.front();
  const bool single = letter == 's' || letter == 'S';
  if (!single && letter != 'c' && letter != 'C') return {};
  if (!thread_digits.empty() && thread_digits != "-1" && thread_digits != "0") {
    const auto thread = thread_of(thread_digits);
    if (!thread) return error_reply(ESRCH);
    current_ = *thread;
  }
  return move({.backward = false, .single = single});
}

Server::Reply Server::move(const Player::Motion& motion) {
  return stop_reply(
      current().move(motion, points_, [this] { return connection_.interrupted(reader_); }));
}

Server::Reply Server::stop_reply(const Player::Stop& stop) const {
  // gdb's own numbers of signals.
  constexpr int kInterrupt = 2, kTrap = 5;
  std::string reason;
  switch (stop.reason) {
    case Player::Reason::kStepped:
    case Player::Reason::kInterrupted:
      break;
    case Player::Reason::kBegin:
      reason = "replaylog:begin;";
      break;
    case Player::Reason::kEnd:
      reason = "replaylog:end;";
      break;
    case Player::Reason::kBreakpoint:
      if (reports_breakpoints_) {
        reason = stop.hit.type == StopType::kHardware ? "hwbreak:;" : "swbreak:;";
      }
      break;
    case Player::Reason::kWatchpoint:
      reason = fmt::format("{}:{:x};",
                           stop.hit.type == StopType::kWrite  ? "watch"
                           : stop.hit.type == StopType::kRead ? "rwatch"
                                                              : "awatch",
                           stop.hit.address);
      break;
  }
  const int signal = stop.reason == Player::Reason::kInterrupted ? kInterrupt : kTrap;
  return fmt::format("T{:02x}{}thread:{:x};", signal, reason, current_ + 1);
}

}  // namespace htmtrace
