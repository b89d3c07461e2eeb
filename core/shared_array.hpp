#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "core/array.hpp"

namespace pagerank {

/// Numbers that no longer change, together with what keeps their memory: an Array, or anything else
/// that holds such numbers, a mapped file for instance. Copies share the memory.
template <class T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(Array<T> elements) {  // NOLINT(google-explicit-*): it is how an Array ends up
    auto owner = std::make_shared<Array<T>>(std::move(elements));
    elements_ = *owner;
    array_ = owner.get();
    owner_ = std::move(owner);
  }
  SharedArray(const SharedArray&) = default;
  SharedArray& operator=(const SharedArray&) = default;
  SharedArray(SharedArray&& other) noexcept { swap(other); }  ///< The other one is empty then.
  SharedArray& operator=(SharedArray&& other) noexcept {
    SharedArray(std::move(other)).swap(*this);
    return *this;
  }
  ~SharedArray() = default;

  SharedArray(std::initializer_list<T> elements) : SharedArray(Array<T>(elements)) {}

  /// Views elements that exist as long as `owner` does.
  SharedArray(std::shared_ptr<const void> owner, std::span<const T> elements)
      : owner_(std::move(owner)), elements_(elements) {}

  [[nodiscard]] const T* data() const { return elements_.data(); }
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] bool empty() const { return elements_.empty(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size(); }
  [[nodiscard]] const T& front() const { return elements_.front(); }
  [[nodiscard]] const T& back() const { return elements_.back(); }
  const T& operator[](std::size_t i) const { return elements_[i]; }

  /// Whether take() would give its Array away.
  [[nodiscard]] bool is_sole_owner() const { return array_ != nullptr && owner_.use_count() == 1; }

  /// Gives its Array away if it has one and no copy shares it, else an empty one. It is empty then.
  /// No other thread may have a copy at that time.
  [[nodiscard]] Array<T> take() {
    Array<T> taken;
    if (is_sole_owner()) taken = std::move(*array_);
    *this = {};
    return taken;
  }

  friend bool operator==(const SharedArray& a, const SharedArray& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void swap(SharedArray& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(array_, other.array_);
    std::swap(elements_, other.elements_);
  }

  std::shared_ptr<const void> owner_;
  Array<T>* array_ = nullptr;  ///< The owner, where that is one.
  std::span<const T> elements_;
};

}  // namespace pagerank
