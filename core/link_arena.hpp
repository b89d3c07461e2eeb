#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
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
/// From any thread, for arrays of one arena at a time.
class LinkArena {
 public:
  enum class Slabs { usual, one };
  /// For up to so many links at a time, slabs that are not full included. In one slab, for one lot,
  /// no run is too long and none lost, and none is used again. Throws std::bad_alloc or
  /// std::length_error.
  LinkArena(EdgeIndex capacity, bool wide, bool weighted, Slabs slabs = Slabs::usual);

  /// Links of a slab: as many as make whole huge pages of each array.
  [[nodiscard]] static EdgeIndex slab_links(bool wide);
  /// What holds so many links for certain, taken in runs for so many lots: a slab that a run does
  /// not fit any more loses less than that run, and each lot has a last slab.
  [[nodiscard]] static EdgeIndex capacity_for(EdgeIndex links, std::size_t lots, bool wide) {
    return 2 * links + (lots + 1) * slab_links(wide);
  }

  /// The arrays in which places are counted.
  [[nodiscard]] Links links() const { return base_; }

  /// Links that are freed together.
  class Lot {
    friend class LinkArena;
    EdgeIndex next_ = 0, end_ = 0;  ///< What is left of the last slab.
    std::vector<EdgeIndex> slabs_;
  };

  /// Whether there is memory for so many links more in so many new lots, even if none is freed.
  [[nodiscard]] bool has_room(EdgeIndex links, std::size_t lots) const;
  /// Where so many links of a lot may go, side by side. Throws std::bad_alloc if there is no room.
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
    std::vector<bool> settled_;   ///< Pages that elements were announced of.
  };
  /// Has pages that nobody needs any more moved to where these elements of an array will be, if
  /// there are any, and if the system can. To be called before the first of them is written: what
  /// was written, unannounced, to a page that it shares with others is lost.
  template <class T>
  void give_pages(Heir& heir, std::span<T> elements) {
    give_pages_to(heir, std::as_writable_bytes(elements));
  }

 private:
  [[nodiscard]] std::optional<EdgeIndex> unused_slabs(EdgeIndex count);
  void give_pages_to(Heir& heir, std::span<std::byte> bytes);
  [[nodiscard]] std::byte* unused_page();
  void move_page(std::byte* from, std::byte* to);

  EdgeIndex slab_;  ///< Its links.
  EdgeIndex slabs_;
  Array<std::uint32_t> low_;
  Array<std::uint16_t> high_;
  Array<double> weights_;
  Links base_;                     ///< Within these, at huge pages.
  mutable std::mutex mutex_;       ///< Guards what follows, and lots and heirs.
  EdgeIndex fresh_ = 0;            ///< The first slab that was never taken.
  std::vector<EdgeIndex> unused_;  ///< Descending.
  std::vector<std::byte*> pages_;  ///< Of slabs that are gone.
  int moves_left_;                 ///< 0 if the system does not move pages.
};

}  // namespace pagerank
