#include "core/link_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <new>

#include "core/huge_pages.hpp"

namespace pagerank {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

/// A page that moved is a mapping of its own, of which a process may have 65530 by default.
constexpr int most_moves = 1 << 13;

/// The first whole page.
std::byte* page_from(std::byte* place) {
  const std::uintptr_t over = reinterpret_cast<std::uintptr_t>(place) % page;
  return place + (page - over) % page;
}

/// So many elements from a whole page on, if they fill one.
template <class T>
T* resize_from_page(Array<T>& array, EdgeIndex elements) {
  if (elements < page / sizeof(T)) {
    array.resize(elements);
    return array.data();
  }
  array.resize(elements + page / sizeof(T));
  advise_huge_pages(std::span(array));
  return reinterpret_cast<T*>(page_from(reinterpret_cast<std::byte*>(array.data())));
}

}  // namespace

EdgeIndex LinkArena::slab_links(bool wide) {
  return page / (wide ? sizeof(std::uint16_t) : sizeof(std::uint32_t));
}

LinkArena::LinkArena(EdgeIndex capacity, bool wide, bool weighted, Slabs slabs)
    : slab_(slabs == Slabs::one ? std::max<EdgeIndex>(capacity, 1) : slab_links(wide)),
      slabs_((capacity + slab_ - 1) / slab_),
      moves_left_(most_moves) {
  base_.low = resize_from_page(low_, slabs_ * slab_);
  if (wide) base_.high = resize_from_page(high_, slabs_ * slab_);
  if (weighted) base_.weights = resize_from_page(weights_, slabs_ * slab_);
}

bool LinkArena::has_room(EdgeIndex links, std::size_t lots) const {
  const std::lock_guard lock(mutex_);
  return (slabs_ - fresh_) * slab_ >= capacity_for(links, lots, base_.high != nullptr);
}

EdgeIndex LinkArena::take(Lot& lot, EdgeIndex links) {
  const std::lock_guard lock(mutex_);
  if (lot.end_ - lot.next_ < links) {
    const EdgeIndex count = (links + slab_ - 1) / slab_;
    std::optional<EdgeIndex> first = unused_slabs(count);
    if (!first) {
      if (slabs_ - fresh_ < count) throw std::bad_alloc();
      first = fresh_;
      fresh_ += count;
    }
    lot.next_ = *first * slab_;
    lot.end_ = lot.next_ + count * slab_;
    for (EdgeIndex slab = 0; slab < count; ++slab) lot.slabs_.push_back(*first + slab);
  }
  const EdgeIndex place = lot.next_;
  lot.next_ += links;
  return place;
}

/// Takes so many that follow each other. Returns the first.
std::optional<EdgeIndex> LinkArena::unused_slabs(EdgeIndex count) {
  for (std::size_t end = unused_.size(); end >= count; --end) {
    const EdgeIndex first = unused_[end - 1];
    if (unused_[end - count] != first + count - 1) continue;
    unused_.erase(unused_.begin() + static_cast<std::ptrdiff_t>(end - count),
                  unused_.begin() + static_cast<std::ptrdiff_t>(end));
    return first;
  }
  return std::nullopt;
}

void LinkArena::free(Lot& lot) {
  const std::lock_guard lock(mutex_);
  unused_.insert(unused_.end(), lot.slabs_.begin(), lot.slabs_.end());
  std::sort(unused_.begin(), unused_.end(), std::greater<>());
  lot = {};
}

void LinkArena::Heir::find_pages(std::span<std::byte> bytes) {
  begin_ = page_from(bytes.data());
  const std::size_t skipped = static_cast<std::size_t>(begin_ - bytes.data());
  settled_.resize(bytes.size() < skipped ? 0 : (bytes.size() - skipped) / page);
}

void LinkArena::give_pages_to(Heir& heir, std::span<std::byte> bytes) {
  if (heir.settled_.empty() || bytes.empty()) return;
  const auto page_of = [&](const std::byte* place) {
    return place < heir.begin_ ? 0 : static_cast<std::size_t>(place - heir.begin_) / page;
  };
  const std::byte* const last = bytes.data() + bytes.size() - 1;
  if (last < heir.begin_) return;
  const std::size_t end = std::min(page_of(last) + 1, heir.settled_.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t p = page_of(bytes.data()); p < end; ++p) {
    if (heir.settled_[p]) continue;
    heir.settled_[p] = true;
    if (std::byte* const from = unused_page()) move_page(from, heir.begin_ + p * page);
  }
}

/// Null if there is none.
std::byte* LinkArena::unused_page() {
  if (pages_.empty() && !unused_.empty()) {
    const EdgeIndex first = unused_.back() * slab_;
    unused_.pop_back();
    const auto add = [&](auto* array) {
      if (array == nullptr) return;
      auto* const begin = reinterpret_cast<std::byte*>(array + first);
      const std::size_t pages = slab_ * sizeof(*array) / page;
      for (std::size_t p = pages; p > 0; --p) pages_.push_back(begin + (p - 1) * page);
    };
    add(base_.high);  // the last to be taken: some slabs never had any there
    add(base_.weights);
    add(base_.low);
  }
  if (pages_.empty()) return nullptr;
  std::byte* const last = pages_.back();
  pages_.pop_back();
  return last;
}

/// What lay at `to` is lost. Where pages are not moved, for the system cannot (Linux before 5.7) or
/// too many were, it gets the old one back, and will give a new one.
void LinkArena::move_page(std::byte* from, std::byte* to) {
#if defined(MREMAP_DONTUNMAP)
  if (moves_left_ > 0) {
    --moves_left_;
    constexpr int how = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (mremap(from, page, page, how, to) != MAP_FAILED) return;
    moves_left_ = 0;
    // A failure may have left nothing there.
    constexpr int fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(to, page, PROT_READ | PROT_WRITE, fixed, -1, 0) == MAP_FAILED) throw std::bad_alloc();
    (void)madvise(to, page, MADV_HUGEPAGE);
  }
#endif
  give_back_pages(std::span(from, page));
}

}  // namespace pagerank
