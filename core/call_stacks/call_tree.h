// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks of functions as a tree: each node stands for the stack of its parent plus one function.
// The tree learns some callers late, when a return reveals them. The outermost node of such a stack
// is a base, which stands for missing callers until the tree learns them.
//
// With Detail::kSites, the tree also has the addresses of calls. A site is a node between a
// function and the functions that it called at this address; like a confirmed base, it is part of
// no stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/key_numbers.h"

namespace htmtrace {

class CallTree {
 public:
  using Node = uint32_t;
  using Function = uint32_t;
  static constexpr Node kRoot = 0;         // no function
  static constexpr Function kUnnamed = 0;  // "[unknown]"
  static constexpr Function kUnknownCallers = 1, kDeeper = 2, kOthers = 3;
  static constexpr uint32_t kMostDepth = 512;
  static constexpr uint64_t kNoSite = 0;  // the address of a call is unknown

  enum class Detail : uint8_t { kFunctions, kSites };

  // "[unknown]", "[unknown callers]", "[deeper calls]" and "[other stacks]" are marks, not
  // functions.
  static constexpr bool is_mark(Function function) { return function <= kOthers; }

  explicit CallTree(Detail detail = Detail::kFunctions);

  // The number of a function. `is_symbol`: `name` is a symbol, not the address of the first
  // instruction. Returns kUnnamed for a new function when the tree has too many functions.
  Function function_of(const std::string& name, bool is_symbol);
  // The number of an inlined function. It differs from the number of the function `name`. Its name
  // is `name` with the mark, which perf also uses.
  static constexpr std::string_view kInlinedMark = " (inlined)";
  Function inlined_function_of(std::string_view name);
  // Returns kUnnamed for an unknown name.
  Function find(const std::string& name) const;
  bool is_symbol(Function function) const { return functions_[function].kind == Kind::kSymbol; }
  bool is_inlined(Function function) const { return functions_[function].kind == Kind::kInlined; }
  const std::string& name_of(Function function) const { return functions_[function].name; }

  // The stack of `parent` plus one function. Stacks that are too deep end with a special node, and
  // so do new stacks when the tree is full. With sites, the innermost function of these stacks
  // follows the special node.
  Node child(Node parent, Function function);

  // Adds a stack below `parent`. The callers between the parent and this stack's functions are
  // unknown.
  Node add_base(Node parent);
  // Replaces a base with `function`, which made its call at `site`, an address with its owner.
  // Returns a new base above the node for the callers of `function`.
  Node reveal(Node base, Function function, uint64_t site = kNoSite);
  // Confirms that no callers are missing below the base: `parent` called the functions below it.
  void confirm(Node base, Node parent, uint64_t site = kNoSite);
  // The parent of the functions that the stack `own` calls at `site`. Marks have no sites.
  Node at_site(Node own, uint64_t site);

  // Gives each stack one node, and adds up the counts of its former nodes. Only the nodes in `used`
  // (indexed by node) may appear in later calls, with their new numbers. A base that is not in
  // `used` never gets its callers. Returns the new number of each node.
  std::vector<Node> merge(const std::vector<bool>& used);

  void count(Node node, uint64_t instructions = 1) { nodes_[node].instructions += instructions; }
  // The innermost function of the stack has begun.
  void enter(Node node) { nodes_[node].entries++; }

  // The node itself or, for a confirmed base, the node with the same stack.
  Node visible(Node node) const;
  // The next outer function.
  Node outer(Node node) const { return visible(nodes_[node].parent); }
  // The name of any node except the root and confirmed bases.
  const std::string& name(Node node) const { return name_of(nodes_[node].function); }

  // The parts of a node, as the tree stores it. A node can be confirmed or share its stack with
  // other nodes; a StackTree has each stack once.
  Node parent(Node node) const { return nodes_[node].parent; }
  Function function(Node node) const { return nodes_[node].function; }
  bool is_confirmed(Node node) const { return nodes_[node].confirmed; }
  uint64_t instructions(Node node) const { return nodes_[node].instructions; }
  uint64_t entries(Node node) const { return nodes_[node].entries; }
  uint64_t site(Node node) const { return nodes_[node].site; }

  size_t functions() const { return functions_.size(); }
  static constexpr size_t kMostFunctions = 1 << 18;
  static constexpr size_t kMostNodes = 1 << 20;
  size_t size() const { return nodes_.size(); }
  // Counts the stacks beyond the limits of depth and number, and the requests for functions beyond
  // kMostFunctions.
  uint64_t cut() const { return cut_; }

 private:
  enum class Kind : uint8_t { kNoSymbol, kSymbol, kInlined };
  struct Named {
    std::string name;
    Kind kind = Kind::kNoSymbol;
  };
  struct Entry {
    Node parent = kRoot;
    Function function = kUnnamed;
    uint32_t depth = 0;
    bool confirmed = false;  // a base without missing callers, or a site
    uint64_t instructions = 0;
    uint64_t entries = 0;
    uint64_t site = kNoSite;  // of the calls below a confirmed node
  };

  // The keys of children_.
  static constexpr uint64_t key_of(Node parent, Function function) {
    return uint64_t{parent} << 32 | function;
  }
  // Differs from the keys of all functions. `number` is that of the site in sites_.
  static constexpr uint64_t site_key(Node parent, uint32_t number) {
    return key_of(parent, uint32_t{1} << 31 | number);
  }
  // A base whose callers are unknown.
  static bool is_open_base(const Entry& entry) {
    return entry.function == kUnknownCallers && !entry.confirmed;
  }

  Function number_of(const std::string& key, const std::string& name, Kind kind);
  Node add(Node parent, Function function, uint32_t depth);
  Node add_merged(const Entry& entry, Node parent, bool is_open);
  Node end_of(Node parent);
  bool ends_at(Node node) const {
    return nodes_[node].function == kOthers || nodes_[node].function == kDeeper;
  }

  Detail detail_;
  std::vector<Named> functions_;
  std::unordered_map<std::string, Function> numbers_;  // by name; see inlined_function_of()
  std::vector<Entry> nodes_;
  KeyNumbers children_;  // nodes by parent, and function or site
  KeyNumbers sites_;     // numbers of sites by address
  Node others_ = kRoot;  // stands for all stacks that exceed the limit
  uint64_t cut_ = 0;
};

}  // namespace htmtrace
