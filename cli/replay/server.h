// SPDX-License-Identifier: GPL-2.0-or-later
// Answers the packets of gdb. Each trace is a thread with its own position. The threads are
// numbered from 1. Only one thread moves at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/replay/connection.h"
#include "cli/replay/monitor.h"
#include "cli/replay/packets.h"
#include "cli/replay/player.h"
#include "cli/replay/stop_points.h"

namespace htmtrace {

class Server {
 public:
  // All arguments must outlive the server. At least one player is required.
  Server(std::vector<std::unique_ptr<Player>>& players, Monitor& monitor, std::endian order,
         const Connection& connection)
      : players_(players), monitor_(monitor), order_(order), connection_(connection) {}

  // Answers until gdb detaches, kills the program or closes the connection. Throws Error.
  void run();

 private:
  // An empty reply states that the packet is not supported.
  using Reply = std::string;

  void take(const PacketReader::Arrival& arrival);
  void send(const std::string& reply);
  Reply reply_to(std::string_view packet);

  // ---- queries
  Reply query(std::string_view packet);
  Reply supported(std::string_view features);
  static Reply part_of_description(std::string_view range);
  Reply thread_list() const;
  Reply extra_info(std::string_view digits) const;
  Reply run_monitor(std::string_view digits);

  // ---- threads
  std::optional<size_t> thread_of(std::string_view digits) const;
  Reply set_thread(std::string_view operation);
  Player& current() { return *players_[current_]; }

  // ---- state
  Reply registers();
  Reply one_register(std::string_view digits);
  Reply memory(std::string_view range);

  // ---- motion
  Reply insert(std::string_view packet);
  Reply resume(std::string_view packet);
  Reply resume_by_action(std::string_view actions);
  Reply move(const Player::Motion& motion);
  Reply stop_reply(const Player::Stop& stop) const;

  std::vector<std::unique_ptr<Player>>& players_;
  Monitor& monitor_;
  std::endian order_;
  const Connection& connection_;
  PacketReader reader_;
  StopPoints points_;
  size_t current_ = 0;               // the thread of register and memory packets
  std::optional<size_t> to_resume_;  // the thread of the next motion, instead of current_
  std::string last_sent_;
  bool confirms_ = true;  // until QStartNoAckMode
  bool no_confirmation_follows_ = false;
  bool reports_breakpoints_ = false;  // gdb knows swbreak and hwbreak
  bool done_ = false;
};

}  // namespace htmtrace
