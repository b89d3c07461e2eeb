#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "core/types.hpp"

namespace pagerank {

/// Links, each packed into 32 bits, or into 48 with 16 more in an array of their own; and their
/// weights. Null where there are none.
struct Links {
  std::uint32_t* low = nullptr;
  std::uint16_t* high = nullptr;
  double* weights = nullptr;
};

/// Memory for links that are moved from one order to the next, and in the end into arrays that
/// stay: it is cut into slabs, which are used again as soon as all links of one are where they
/// belong. Touching memory for the first time is most of what moving links costs, above all where
/// the host of a virtual machine has to find it, so what was touched is kept in use.
///
/// All but links() from any thread.
class LinkArena {
 public:
  /// For up to so many links at a time, slabs that are not full included. Throws std::bad_alloc.
  LinkArena(EdgeIndex capacity, bool wide, bool weighted);

  /// Links of a slab: as many as make whole huge pages of each array.
  [[nodiscard]] static EdgeIndex slab_links(bool wide);
  /// What holds so many links for certain, taken in runs for so many lots.
  [[nodiscard]] static EdgeIndex capacity_for(EdgeIndex links, std::size_t lots, bool wide) {
    return 2 * links +
           (lots + 1) * slab_links(wide);  // runs that do not fit waste less than theirs
  }

  /// The arrays in which places are counted.
  [[nodiscard]] Links links() const { return base_; }

  /// Links that are freed together.
  class Lot {
    friend class LinkArena;
    EdgeIndex next_ = 0, end_ = 0;  ///< What is left of the last slab.
    std::vector<EdgeIndex> slabs_;
  };

  /// Whether there is memory for so many links in so many lots, whatever is freed.
  [[nodiscard]] bool has_room(EdgeIndex links, std::size_t lots) const;
  /// Where so many links of a lot may go, side by side.
  [[nodiscard]] EdgeIndex take(Lot& lot, EdgeIndex links);
  /// The lot's links are not needed any more.
  void free(Lot& lot);

  /// A large array that nobody has touched yet, and that is to have pages of an arena.
  class Heir {
   public:
    template <class T>
    explicit Heir(std::span<T> array) {
      find_pages(std::as_writable_bytes(array));
    }

   private:
    friend class LinkArena;
    void find_pages(std::span<std::byte> bytes);
    std::byte* begin_ = nullptr;  ///< Of the first whole page.
    std::vector<bool> settled_;   ///< Pages that may hold something already.
  };
  /// Elements are about to be written for the first time: pages that nobody needs any
  /// more are moved there, if there are any, and if the system can.
  template <class T>
  void hand_on(Heir& heir, std::span<T> elements) {
    hand_on_bytes(heir, std::as_writable_bytes(elements));
  }

 private:
  void hand_on_bytes(Heir& heir, std::span<std::byte> bytes);
  [[nodiscard]] std::byte* unused_page();
  void move_page(std::byte* from, std::byte* to);

  EdgeIndex slab_;  ///< Its links.
  EdgeIndex slabs_;
  Array<std::uint32_t> low_;
  Array<std::uint16_t> high_;
  Array<double> weights_;
  Links base_;                ///< Within these, at huge pages.
  mutable std::mutex mutex_;  ///< Guards what follows, and lots and heirs.
  EdgeIndex fresh_ = 0;       ///< The first slab that was never taken.
  std::vector<EdgeIndex> unused_;
  std::vector<std::byte*> pages_;  ///< Of slabs that are gone.
  int moves_left_;                 ///< 0 if the system does not move pages.
};

}  // namespace pagerank
