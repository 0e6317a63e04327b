// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace htmtrace {

// An array whose bytes are initially zero. calloc() supplies the memory, so untouched pages of a
// large array occupy no memory.
template <class Element>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<Element>);

 public:
  // An empty array.
  ZeroedArray() = default;
  explicit ZeroedArray(size_t elements)
      : elements_(static_cast<Element*>(std::calloc(elements, sizeof(Element)))) {
    if (!elements_) throw std::bad_alloc();
  }

  bool empty() const { return !elements_; }
  Element& operator[](size_t place) { return elements_[place]; }
  const Element& operator[](size_t place) const { return elements_[place]; }

 private:
  struct Free {
    void operator()(Element* elements) const { std::free(elements); }
  };
  std::unique_ptr<Element[], Free> elements_;
};

}  // namespace htmtrace
