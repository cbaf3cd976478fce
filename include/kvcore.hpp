/// kvcore for C++17 and later: types over `kvcore.h`, which has the full list of statuses of every call.
///
/// Header-only, without exceptions, RTTI, heap or hosted headers; every function is `noexcept`. A call that can
/// fail answers a `Status` or a `Result<T>`, and then everything is as it was.
///
/// Positions, rows, tokens and layers are counted from 0 in `std::uint32_t`, sizes are bytes in `std::size_t`.
/// Threads: the caches and registries *behind* these types may be called from any thread, and no call ever hangs:
/// `Code::Busy` means that a lock stayed held and nothing changed. One *object* of these types is for one thread
/// at a time, like a pointer; give each thread a copy.
///
/// Handles are const like a pointer is: a `const Cache` can be planned and cleared. An empty handle may be called;
/// it answers `Code::InvalidArgument`.
///
/// ```cpp
/// static kvc::SequenceStorage<26> storage;              // room for 26 layers
/// kvc::Config config = kvc::Config::uniform(4096, 26, kvc::Layer::flat());
/// kvc::Cache cache = kvc::SequenceCache<26>::build_in(storage, config).value();
/// kvc::SequenceControl control = cache.sequence_control();    // for the application
/// kvc::SequencePlanner planner = cache.sequence_planner();    // for the backend
/// assert(control.can_extend(5).value());
/// kvc::SeqPlan plan = planner.plan(0, 0, 5).value();    // layer 0, position 0, 5 tokens
/// assert(plan.writes()[0].start == 0 && plan.writes()[0].len == 5);
/// assert(planner.commit(plan).ok() && control.length().value() == 5);
/// ```
#ifndef KVCORE_HPP
#define KVCORE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// The C header is C99, casts and all.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif
#include "kvcore.h"
namespace kvc::detail {
constexpr std::size_t sequence_bytes(std::size_t n_layers) { return KVC_SEQUENCE_BYTES_FOR(n_layers); }
}  // namespace kvc::detail
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// What `Result::value` does when there is none. Define it before including this header, the same in every file.
/// If it returns, `value` answers a value-initialised object.
#ifndef KVC_TRAP
#if defined(__GNUC__)
#define KVC_TRAP() __builtin_trap()
#else
#include <cstdlib>
#define KVC_TRAP() ::std::abort()
#endif
#endif

namespace kvc {

inline constexpr std::uint32_t kUnbounded = KVC_UNBOUNDED;  ///< A capacity that only windows bound.
inline constexpr std::size_t kAlign = KVC_ALIGN;            ///< Alignment of every storage, in bytes.
inline constexpr std::uint32_t kMaxLayers = KVC_MAX_LAYERS;  ///< Most layers of a model.
inline constexpr std::uint32_t kMaxGroups = KVC_MAX_GROUPS;  ///< Most layer groups of a model.

/// Whether this header and the library belong together. Any thread. O(1).
///
/// ```cpp
/// assert(kvc::check_header());
/// ```
inline bool check_header() noexcept { return kvc_check_header(); }

// Statuses and results.

/// Why a call failed. The numbers are those of C, fixed for good; later versions may add some.
enum class Code : std::int32_t {
  Ok = KVC_OK,                                ///< Success.
  InvalidArgument = KVC_ERR_INVALID_ARGUMENT, ///< Null or misaligned pointer, zero tokens, number outside its range.
  InvalidConfig = KVC_ERR_INVALID_CONFIG,     ///< A config that contradicts itself or passes a limit.
  OutOfCapacity = KVC_ERR_OUT_OF_CAPACITY,    ///< No room now; room may come (rewind, removal, release).
  NeverFits = KVC_ERR_NEVER_FITS,             ///< Would not fit into the same cache even when empty.
  StepTooLarge = KVC_ERR_STEP_TOO_LARGE,      ///< More tokens than `max_write` allows.
  BadLayer = KVC_ERR_BAD_LAYER,               ///< No such layer.
  BadPosition = KVC_ERR_BAD_POSITION,         ///< A gap, or a position already held: a step continues its sequence.
  Evicted = KVC_ERR_EVICTED,                  ///< The target needs rows that a window has dropped.
  CannotGrow = KVC_ERR_CANNOT_GROW,           ///< Rewind beyond the length.
  StalePlan = KVC_ERR_STALE_PLAN,             ///< The cache was rewound, cleared or stepped since the plan was made.
  NotFound = KVC_ERR_NOT_FOUND,               ///< Nothing stands under that name or index.
  AlreadyExists = KVC_ERR_ALREADY_EXISTS,     ///< The name or the slot is taken.
  TableFull = KVC_ERR_TABLE_FULL,             ///< A fixed table has no free entry.
  NameTooLong = KVC_ERR_NAME_TOO_LONG,        ///< A key or name over its limit, or empty.
  WrongKind = KVC_ERR_WRONG_KIND,             ///< This cache does not offer that call.
  BufferTooSmall = KVC_ERR_BUFFER_TOO_SMALL,  ///< The caller's buffer or storage is too small.
  Busy = KVC_ERR_BUSY,                        ///< The lock stayed held; nothing changed.
  Stale = KVC_ERR_STALE,                      ///< The object was released.
  Corrupt = KVC_ERR_CORRUPT,                  ///< Damaged storage or snapshot, or no such object there.
  Unsupported = KVC_ERR_UNSUPPORTED,          ///< Not supported by this object.
  BadSequence = KVC_ERR_BAD_SEQUENCE,         ///< Unknown sequence id.
  NoStep = KVC_ERR_NO_STEP,                   ///< A placement or commit without a declared step.
  Shared = KVC_ERR_SHARED,                    ///< Would change rows that another sequence also owns.
};

/// Success, or why a call failed. It must be looked at; `ignore` says that you mean not to. It is no `bool`: ask
/// `ok`.
///
/// ```cpp
/// kvc::Status status = kvc::Code::Evicted;
/// assert(!status.ok() && status.code() == kvc::Code::Evicted && status.raw() == KVC_ERR_EVICTED);
/// assert(status.name()[8] == 'E');    // "KVC_ERR_EVICTED"
/// assert(status == kvc::Status::from_raw(8) && status != kvc::Status());
/// status.ignore();
/// ```
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;                 ///< Success.
  constexpr Status(Code code) noexcept : code_(code) {}  ///< Implicit: return a `Code` where a status is wanted.
  /// What C answered; also a number that this header does not know.
  static constexpr Status from_raw(kvc_status_t raw) noexcept { return Status(static_cast<Code>(raw)); }

  constexpr bool ok() const noexcept { return code_ == Code::Ok; }  ///< Success?
  constexpr Code code() const noexcept { return code_; }            ///< For a switch.
  /// As C has it.
  constexpr kvc_status_t raw() const noexcept { return static_cast<kvc_status_t>(code_); }
  /// Such as "KVC_ERR_EVICTED"; a constant. The names are linked only if somebody calls this.
  const char* name() const noexcept { return kvc_status_name(raw()); }
  constexpr void ignore() const noexcept {}  ///< Looks at it, and does nothing.

  friend constexpr bool operator==(Status a, Status b) noexcept { return a.code_ == b.code_; }
  friend constexpr bool operator!=(Status a, Status b) noexcept { return a.code_ != b.code_; }

 private:
  Code code_ = Code::Ok;
};

namespace detail {
struct Access;
}

/// A value, or why there is none. It must be looked at. It converts to nothing, so that neither `if (can_extend(1))`
/// nor `uint32_t n = length()` compiles: ask `ok`, `value` or `value_or`.
///
/// ```cpp
/// kvc::Result<std::uint32_t> five = 5u, none = kvc::Code::NotFound;
/// assert(five.ok() && five.value() == 5 && five.status() == kvc::Code::Ok);
/// assert(!none.ok() && none.value_or(7) == 7 && none.status() == kvc::Code::NotFound);
/// ```
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<T, Status>, "answer a pointer, or a plain Status");
  static_assert(std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T>);

 public:
  /// A value; implicit.
  constexpr Result(T value) noexcept : value_(std::move(value)) {}
  /// A failure; implicit. Success without a value is `Code::Corrupt`.
  constexpr Result(Status error) noexcept : status_(error.ok() ? Status(Code::Corrupt) : error) {}
  constexpr Result(Code error) noexcept : Result(Status(error)) {}  ///< Likewise.

  constexpr bool ok() const noexcept { return status_.ok(); }      ///< Is there a value?
  constexpr Status status() const noexcept { return status_; }     ///< Success, or why there is none.

  /// The value. Without one, `KVC_TRAP` ends the program: look at `ok` first unless failure is impossible.
  constexpr T& value() & noexcept {
    checked();
    return value_;
  }
  /// Likewise.
  constexpr const T& value() const& noexcept {
    checked();
    return value_;
  }
  /// Likewise; moves it out.
  constexpr T value() && noexcept {
    checked();
    return std::move(value_);
  }

  /// The value, or `fallback`.
  constexpr T value_or(T fallback) const& noexcept { return ok() ? value_ : std::move(fallback); }
  /// Likewise; moves it out.
  constexpr T value_or(T fallback) && noexcept { return std::move(ok() ? value_ : fallback); }

 private:
  friend struct detail::Access;
  constexpr Result() noexcept = default;
  constexpr void checked() const noexcept {
    if (!ok()) KVC_TRAP();
  }

  Status status_{};
  T value_{};
};

namespace detail {

/// Calls a C function whose last parameter takes the result.
struct Access {
  template <class T, class... Parameters, class... Arguments>
  static Result<T> ask(kvc_status_t (*call)(Parameters...), Arguments... arguments) noexcept {
    Result<T> result;
    result.status_ = Status::from_raw(call(arguments..., &result.value_));
    return result;
  }
};

/// Whether a face, backend id or kind is 1 to `KVC_MAX_NAME` bytes long.
constexpr bool is_name(const char* name) noexcept {
  std::size_t size = 0;
  while (size <= KVC_MAX_NAME && name[size] != '\0') ++size;
  return size >= 1 && size <= KVC_MAX_NAME;
}

/// A number of elements for C. A template, because the cast is a useless one where a size has 32 bits.
template <class Size>
constexpr std::uint32_t clamp(Size size) noexcept {
  return size < UINT32_MAX ? static_cast<std::uint32_t>(size) : UINT32_MAX;
}

/// A copy with one field changed.
template <class C, class T>
constexpr C with(C object, T C::* field, T value) noexcept {
  object.*field = value;
  return object;
}

/// Keeps a parameter from deducing `T`.
template <class T>
struct Exactly {
  using type = T;
};

}  // namespace detail

// Memory.

/// Consecutive elements that somebody else owns: made of an array, or of anything with `data` and `size`
/// (`std::array`, `std::vector`, `std::span`). One type in every version of the language; `std::span` is made of it.
///
/// ```cpp
/// std::uint32_t rows[4] = {1, 2, 3, 4};
/// kvc::span<std::uint32_t> all = rows;
/// kvc::span<const std::uint32_t> two = all.first(2);
/// std::uint32_t sum = 0;
/// for (std::uint32_t row : two) sum += row;
/// assert(sum == 3 && two.size() == 2 && two.data() == rows && two[1] == 2 && !two.empty());
/// assert(two.end() - two.begin() == 2);
/// ```
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() noexcept = default;  ///< Of nothing.
  /// `size` elements from `data` on.
  constexpr span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// An array; implicit.
  template <std::size_t N>
  constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  /// A container or view; implicit. A temporary container only gives read access, until the end of the full expression.
  template <class C, class P = decltype(std::declval<C&>().data()),
            class = decltype(static_cast<std::size_t>(std::declval<C&>().size())),
            class = std::enable_if_t<std::is_pointer_v<P> &&
                                     std::is_convertible_v<std::remove_pointer_t<P> (*)[], T (*)[]> &&
                                     !std::is_array_v<std::remove_reference_t<C>> &&
                                     (std::is_lvalue_reference_v<C> || std::is_const_v<T> ||
                                      std::is_same_v<decltype(std::declval<const C&>().data()), P>)>>
  constexpr span(C&& container) noexcept : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const noexcept { return data_; }            ///< The first element.
  constexpr std::size_t size() const noexcept { return size_; }   ///< How many there are.
  constexpr bool empty() const noexcept { return size_ == 0; }    ///< None?
  constexpr T* begin() const noexcept { return data_; }           ///< For a loop.
  constexpr T* end() const noexcept { return data_ + size_; }     ///< For a loop.
  /// `index` below `size`; not checked.
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
  /// The first `count` elements, all if there are fewer.
  constexpr span first(std::size_t count) const noexcept { return span(data_, count < size_ ? count : size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `Bytes` bytes of aligned storage, all zero at first. It stays where it is: whatever is built in it keeps its
/// address, and must end before the buffer does.
///
/// ```cpp
/// static kvc::Buffer<1024> buffer;
/// kvc::Storage storage = buffer;
/// assert(storage.size() == 1024 && storage.data() == buffer.bytes);
/// ```
template <std::size_t Bytes>
struct Buffer {
  constexpr Buffer() noexcept = default;  ///< A constant: static storage needs no code to begin.
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  alignas(kAlign) unsigned char bytes[Bytes] = {};  ///< For the library alone.
};

/// Storage of a one-sequence cache of up to `Layers` layers.
template <std::uint32_t Layers>
using SequenceStorage = Buffer<detail::sequence_bytes(Layers)>;

/// Storage of a cache that a C++ class implements; see `ExternalSequence`.
using ExternalStorage = Buffer<KVC_EXTERNAL_BYTES>;

/// Where something is to be built: an address, aligned to `kAlign`, and a number of bytes. Owns nothing.
class Storage {
 public:
  /// `size` bytes from `data` on.
  constexpr Storage(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// All of a buffer; implicit.
  template <std::size_t Bytes>
  constexpr Storage(Buffer<Bytes>& buffer) noexcept : Storage(buffer.bytes, Bytes) {}

  constexpr void* data() const noexcept { return data_; }        ///< The first byte.
  constexpr std::size_t size() const noexcept { return size_; }  ///< Bytes.

 private:
  void* data_;
  std::size_t size_;
};

// Configuration.

/// Kind, window and shape of a layer. Layers that are equal but for `shares_with` form one group: planned once, used
/// by all.
///
/// ```cpp
/// constexpr kvc::Layer full = kvc::Layer::flat().with_heads(8, 128);      // 8 heads of 128 elements
/// constexpr kvc::Layer sliding = kvc::Layer::ring(512, 4);                // 512 positions and 4 sinks
/// constexpr kvc::Layer shared = kvc::Layer::flat().sharing(3);            // has no rows but layer 3's
/// static_assert(full.head_dim == 128 && sliding.window == 512 && sliding.sinks == 4 && shared.shares_with == 4);
/// ```
struct Layer : kvc_layer_t {
  /// Keeps all history.
  static constexpr Layer flat() noexcept { return Layer{{KVC_LAYER_FLAT, 0, 0, 0, 0, 0}}; }
  /// A query attends to `window` positions, itself included, 1 or more, and to the first `sinks` positions.
  static constexpr Layer ring(std::uint32_t window, std::uint32_t sinks = 0) noexcept {
    return Layer{{KVC_LAYER_RING, window, sinks, 0, 0, 0}};
  }
  /// Only pool sizes depend on these.
  constexpr Layer with_heads(std::uint32_t heads, std::uint32_t dim) const noexcept {
    return Layer{{kind, window, sinks, heads, dim, shares_with}};
  }
  /// A KV-shared layer: it uses the rows of layer `donor`, which stands before it and has the same layout.
  constexpr Layer sharing(std::uint32_t donor) const noexcept {
    return Layer{{kind, window, sinks, n_kv_heads, head_dim, donor + 1}};
  }
};
static_assert(sizeof(Layer) == sizeof(kvc_layer_t) && std::is_standard_layout_v<Layer>, "arrays of them go to C");

/// What a cache is built from, for every kind of cache. In C++20 designated initialisers read well too. The layers of
/// a mixed model are borrowed: they must live as long as the config, and a temporary array does not compile.
///
/// ```cpp
/// static constexpr kvc::Layer layers[] = {kvc::Layer::ring(512), kvc::Layer::ring(512), kvc::Layer::flat()};
/// constexpr kvc::Config mixed = kvc::Config::of(4096, layers).with_max_write(128).with_rollback(8);
/// assert(mixed.check().ok() && mixed.layers.size() == 3 && mixed.max_write == 128);
/// kvc::Config uniform = kvc::Config::uniform(kvc::kUnbounded, 26, kvc::Layer::ring(1024));
/// uniform = uniform.with_max_context(8192).with_initial_capacity(64).with_kv_dtype(1).with_user(nullptr);
/// assert(uniform.check().ok() && uniform.raw().n_layer_entries == 1);
/// assert(kvc::Config::from_raw(uniform.raw()).layers.size() == 1);
/// assert(kvc::Config::uniform(64, 0, kvc::Layer::flat()).check() == kvc::Code::InvalidConfig);
/// ```
struct Config {
  std::uint32_t capacity = 0;            ///< Positions; `kUnbounded` where only windows bound a cache.
  std::uint32_t n_layers = 0;            ///< Layers of the model; 0: as many as `layers` has.
  Layer layer = Layer::flat();           ///< All layers, if `layers` is empty.
  span<const Layer> layers{};            ///< Empty, one for all layers, or one each; borrowed.
  std::uint32_t max_write = 0;           ///< Most tokens of a step; 0: each ring's window, no bound for flat layers.
  std::uint32_t rollback = 0;            ///< Extra ring rows: rejected tokens that can be taken back.
  std::uint32_t max_context = 0;         ///< Positions that a sequence may reach; 0: no bound of its own.
  std::uint32_t initial_capacity = 512;  ///< Rows that a growing pool starts with.
  std::int32_t kv_dtype = 0;             ///< Element type of the tensors, opaque here.
  std::uint32_t max_seqs = 0;            ///< Most sequences (many-sequence kinds).
  std::uint32_t block_size = 0;          ///< Rows of a block (paged).
  std::uint32_t max_blocks_per_seq = 0;  ///< Most blocks of a sequence (paged).
  std::uint32_t watermark = 0;           ///< Blocks kept free at admission (paged).
  std::uint32_t flags = 0;               ///< `KVC_SPLIT_POOLS`, `KVC_KEEP_CELLS`.
  const void* user = nullptr;            ///< Handed to a builder untouched.

  /// A model of one entry for each layer: an array, a vector or the like that outlives the config, or a `span`. A
  /// temporary array, also one that is only written down, would be gone before the config is used: it does not compile.
  template <class C, class = std::enable_if_t<std::is_convertible_v<C&, span<const Layer>> &&
                                              (std::is_lvalue_reference_v<C> || std::is_same_v<C, span<const Layer>>)>>
  static constexpr Config of(std::uint32_t capacity, C&& layers) noexcept {
    Config config;
    config.capacity = capacity;
    config.layers = span<const Layer>(layers);
    return config;
  }

  /// A model of `n_layers` equal layers.
  static constexpr Config uniform(std::uint32_t capacity, std::uint32_t n_layers, Layer layer) noexcept {
    Config config;
    config.capacity = capacity;
    config.n_layers = n_layers;
    config.layer = layer;
    return config;
  }

  /// A copy with one field changed; so do the others.
  constexpr Config with_max_write(std::uint32_t tokens) const noexcept {
    return detail::with(*this, &Config::max_write, tokens);
  }
  constexpr Config with_rollback(std::uint32_t tokens) const noexcept {
    return detail::with(*this, &Config::rollback, tokens);
  }
  constexpr Config with_max_context(std::uint32_t positions) const noexcept {
    return detail::with(*this, &Config::max_context, positions);
  }
  constexpr Config with_initial_capacity(std::uint32_t rows) const noexcept {
    return detail::with(*this, &Config::initial_capacity, rows);
  }
  constexpr Config with_kv_dtype(std::int32_t type) const noexcept {
    return detail::with(*this, &Config::kv_dtype, type);
  }
  constexpr Config with_user(const void* pointer) const noexcept {
    return detail::with(*this, &Config::user, pointer);
  }

  /// `Code::InvalidConfig` for a config that contradicts itself or passes a limit. Any thread. O(layers).
  Status check() const noexcept {
    const kvc_config_t config = raw();
    return Status::from_raw(kvc_config_check(&config));
  }

  /// The config as C has it; it points into this one.
  constexpr kvc_config_t raw() const& noexcept {
    kvc_config_t raw{};
    raw.struct_size = sizeof(kvc_config_t);
    raw.capacity = capacity;
    raw.n_layers = n_layers == 0 ? detail::clamp(layers.size()) : n_layers;
    raw.n_layer_entries = layers.empty() ? 1 : detail::clamp(layers.size());
    raw.layers = layers.empty() ? &layer : layers.data();
    raw.max_write = max_write;
    raw.rollback = rollback;
    raw.max_context = max_context;
    raw.initial_capacity = initial_capacity;
    raw.kv_dtype = kv_dtype;
    raw.max_seqs = max_seqs;
    raw.block_size = block_size;
    raw.max_blocks_per_seq = max_blocks_per_seq;
    raw.watermark = watermark;
    raw.flags = flags;
    raw.user = user;
    return raw;
  }
  constexpr kvc_config_t raw() const&& = delete;  ///< It would point into a temporary.

  /// A config that came from C; its layers are borrowed.
  static Config from_raw(const kvc_config_t& raw) noexcept {
    // A `Layer` is a `kvc_layer_t` with functions.
    const auto* layers = static_cast<const Layer*>(raw.layers);
    Config config = of(raw.capacity, span<const Layer>(layers, layers == nullptr ? 0 : raw.n_layer_entries));
    config.n_layers = raw.n_layers;
    config.max_write = raw.max_write;
    config.rollback = raw.rollback;
    config.max_context = raw.max_context;
    config.initial_capacity = raw.initial_capacity;
    config.kv_dtype = raw.kv_dtype;
    config.max_seqs = raw.max_seqs;
    config.block_size = raw.block_size;
    config.max_blocks_per_seq = raw.max_blocks_per_seq;
    config.watermark = raw.watermark;
    config.flags = raw.flags;
    config.user = raw.user;
    return config;
  }
};

// Plans.

using Run = kvc_run_t;              ///< Consecutive rows: `start`, `len`, and `pos`, the position of the first.
using LayerInfo = kvc_layer_info_t; ///< A layer, its `group`, the `rows` of its pool, its own `max_write`.

/// Which mask attention needs.
enum class Mask : std::uint32_t {
  None = KVC_MASK_NONE,          ///< One query, and it sees every read row.
  Causal = KVC_MASK_CAUSAL,      ///< Lower-right aligned: the last query sees every read row.
  Window = KVC_MASK_WINDOW,      ///< A band of `window` positions for each query, plus the sinks.
  Explicit = KVC_MASK_EXPLICIT,  ///< Only the bytes or bits describe it.
};

/// What a column of a mask stands for.
enum class Columns : std::uint32_t {
  Read = KVC_COLUMNS_READ,  ///< Column j: the j-th read row; `read_len` columns.
  Pool = KVC_COLUMNS_POOL,  ///< Column j: pool row j; up to the highest read row.
};

/// One step of one layer group: which rows it writes and reads, under which mask. Plain data with the fields of
/// `kvc_seq_plan_t`; a copy commits as well as the original.
///
/// ```cpp
/// // A window of 2, a step of 2 tokens at position 3: each query has a lower bound of its own.
/// kvc::SeqPlan plan = kvc::layout_plan(kvc::Layer::ring(2), 0, 0, 3, 2).value();
/// assert(plan.writes().size() == 1 && plan.reads().size() >= 1 && plan.mask_kind() == kvc::Mask::Window);
/// std::uint32_t positions[3];
/// assert(plan.read_len == 3 && plan.positions(positions).ok() && positions[0] == 2 && positions[2] == 4);
/// std::uint8_t mask[2 * 3];
/// assert(plan.mask_bytes(mask, 3).ok());            // queries 3 and 4; columns 2, 3, 4
/// assert(mask[0] == 1 && mask[1] == 1 && mask[2] == 0 && mask[3] == 0 && mask[4] == 1 && mask[5] == 1);
/// std::uint32_t bits[2];
/// assert(plan.mask_bits(bits, 1).ok() && bits[0] == 3 && bits[1] == 6);
/// // As a token tree with two roots, neither sees the other.
/// const std::int32_t parents[] = {-1, -1};
/// assert(plan.mask_bits(bits, 1, kvc::Columns::Read, parents).ok() && bits[1] == 5);
/// ```
struct SeqPlan : kvc_seq_plan_t {
  /// Where the rows of the new tokens go, in order: 1 or 2 runs.
  constexpr span<const Run> writes() const& noexcept { return span<const Run>(write).first(n_write); }
  /// What attention reads, oldest first, this step's own rows included: 1 to 3 runs.
  constexpr span<const Run> reads() const& noexcept { return span<const Run>(read).first(n_read); }
  void writes() const&& = delete;  ///< They would be runs of a temporary.
  void reads() const&& = delete;   ///< Likewise.
  /// Which mask attention needs; only `Mask::None` can do without the bytes or bits.
  constexpr Mask mask_kind() const noexcept { return static_cast<Mask>(mask); }

  /// Writes the position of each read row: `read_len` of them. `InvalidArgument` for a plan that contradicts itself,
  /// `BufferTooSmall`. Any thread. O(`read_len`).
  Status positions(span<std::uint32_t> out) const noexcept {
    return Status::from_raw(kvc_plan_positions(this, out.data(), out.size()));
  }

  /// Writes the mask, one byte a column (1: attend), `n_tokens` rows of `row_stride` bytes; columns beyond the mask
  /// are 0. With `parents`, one a token and at most 256, the step is a token tree: `parents[i] < i`, or -1 for a child
  /// of the committed prefix. `InvalidArgument`, `BufferTooSmall` for a stride below the columns or too few bytes. Any
  /// thread. O(`n_tokens` * `row_stride`).
  Status mask_bytes(span<std::uint8_t> out, std::size_t row_stride, Columns columns = Columns::Read,
                    span<const std::int32_t> parents = {}) const noexcept {
    if (!parents.empty() && parents.size() != n_tokens) return Code::InvalidArgument;
    return Status::from_raw(kvc_plan_mask_bytes(this, parents.data(), static_cast<std::uint32_t>(columns), out.data(),
                                                out.size(), row_stride));
  }

  /// As `mask_bytes`, one bit a column: column `j` is bit `j % 32` of word `j / 32` of its row of `row_words` words.
  Status mask_bits(span<std::uint32_t> out, std::size_t row_words, Columns columns = Columns::Read,
                   span<const std::int32_t> parents = {}) const noexcept {
    if (!parents.empty() && parents.size() != n_tokens) return Code::InvalidArgument;
    return Status::from_raw(kvc_plan_mask_bits(this, parents.data(), static_cast<std::uint32_t>(columns), out.data(),
                                               out.size(), row_words));
  }
};
static_assert(sizeof(SeqPlan) == sizeof(kvc_seq_plan_t) && std::is_standard_layout_v<SeqPlan>, "arrays go to C");

/// Plans by arithmetic alone, any position, no cache. `InvalidArgument` (also 0 tokens), `InvalidConfig` for a layer
/// that contradicts itself, `StepTooLarge`. Any thread. O(1).
///
/// ```cpp
/// kvc::SeqPlan plan = kvc::layout_plan(kvc::Layer::flat(), 0, 0, 7, 1).value();
/// assert(plan.write[0].start == 7 && plan.read_len == 8);
/// assert(kvc::layout_plan(kvc::Layer::ring(4), 2, 0, 0, 3).status() == kvc::Code::StepTooLarge);
/// ```
inline Result<SeqPlan> layout_plan(const Layer& layer, std::uint32_t max_write, std::uint32_t rollback,
                                   std::uint32_t position, std::uint32_t n) noexcept {
  const kvc_layer_t* raw = &layer;
  return detail::Access::ask<SeqPlan>(kvc_layout_plan, raw, max_write, rollback, position, n);
}

/// The next size of a growing pool, in rows: `current` doubled until it holds `needed`, at most `max`; 0 if `needed`
/// is over `max`. Any thread. O(log(needed / current)).
///
/// ```cpp
/// assert(kvc::grow_rows(512, 513, 4096) == 1024 && kvc::grow_rows(512, 4097, 4096) == 0);
/// ```
inline std::uint32_t grow_rows(std::uint32_t current, std::uint32_t needed, std::uint32_t max) noexcept {
  return kvc_grow_rows(current, needed, max);
}

/// Bytes of K or of V alone: rows * heads * dim elements of `bits` bits. `InvalidArgument` (also a zero factor, or
/// more bytes than 64 bits count). Any thread. O(1).
///
/// ```cpp
/// assert(kvc::pool_bytes(1024, 8, 128, 16).value() == 1024 * 8 * 128 * 2);
/// ```
inline Result<std::uint64_t> pool_bytes(std::uint32_t rows, std::uint32_t n_kv_heads, std::uint32_t head_dim,
                                        std::uint32_t bits) noexcept {
  return detail::Access::ask<std::uint64_t>(kvc_pool_bytes, rows, n_kv_heads, head_dim, bits);
}

// The two faces of a one-sequence cache.

/// The application's face: admission, length, rewind. Borrowed: it holds no reference and is good for as long as the
/// cache that handed it out. Empty when the cache does not offer it.
///
/// ```cpp
/// kvc::FlatCache<1> cache;
/// assert(cache.init(8).ok());
/// kvc::SequenceControl control = cache.sequence_control();
/// assert(control && control.capacity().value() == 8 && control.can_extend(8).value());
/// assert(control.length().value() == 0 && control.rewind_floor().value() == 0);
/// assert(control.rewind(1) == kvc::Code::CannotGrow && control.clear().ok());
/// assert(!kvc::SequenceControl());
/// ```
class SequenceControl {
 public:
  constexpr SequenceControl() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Whether `n` more tokens, in steps of at most the step limit, fit. O(1). `InvalidArgument` for 0.
  Result<bool> can_extend(std::uint32_t n = 1) const noexcept {
    return detail::Access::ask<bool>(kvc_can_extend, cache_, n);
  }
  /// Tokens held: the position of the next one. O(1).
  Result<std::uint32_t> length() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_length, cache_); }
  /// Takes the length back, if all that the next token would see is still in its rows: else `Evicted`. Plans made
  /// before are stale. `CannotGrow` beyond the length. O(groups).
  Status rewind(std::uint32_t new_len) const noexcept { return Status::from_raw(kvc_rewind(cache_, new_len)); }
  /// The smallest length from which on every rewind is allowed now. O(groups).
  Result<std::uint32_t> rewind_floor() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_rewind_floor, cache_);
  }
  /// Positions that the cache can hold; `kUnbounded` where only windows bound it. O(1).
  Result<std::uint32_t> capacity() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_capacity, cache_); }
  /// Empties the cache. Plans made before are stale. O(groups).
  Status clear() const noexcept { return Status::from_raw(kvc_clear(cache_)); }

 private:
  friend class AnyCache;
  constexpr explicit SequenceControl(kvc_cache_t* cache) noexcept : cache_(cache) {}
  kvc_cache_t* cache_ = nullptr;
};

/// The backend's face: where a step writes, what it reads. Borrowed and maybe empty, like `SequenceControl`.
///
/// ```cpp
/// static constexpr kvc::Layer layers[] = {kvc::Layer::ring(4), kvc::Layer::flat()};
/// kvc::SequenceCache<2> cache;
/// assert(cache.init(kvc::Config::of(64, layers)).ok());
/// kvc::SequencePlanner planner = cache.sequence_planner();
/// kvc::SeqPlan plans[kvc::kMaxGroups];
/// kvc::Result<kvc::span<kvc::SeqPlan>> step = planner.plan_step(0, 3, plans);
/// assert(step.value().size() == 2 && step.value()[1].read_len == 3);
/// assert(planner.plan(1, 0, 3).value().rows_needed == 3);     // the same step, one layer
/// assert(planner.commit(step.value()[0], 2).ok());            // the last token was rejected
/// assert(cache.sequence_control().length().value() == 2);
/// ```
class SequencePlanner {
 public:
  constexpr SequencePlanner() noexcept = default;  ///< Empty.
  /// Does the cache offer it?
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Plans a step of `n` tokens at `position`, which is the length, for one layer. Each layer may be planned, in any
  /// order and as often as needed, until the step is partly committed or another begins; its rows count as overwritten
  /// from now on. `InvalidArgument` (also 0 tokens), `BadLayer`, `BadPosition`, `StepTooLarge`, `NeverFits`,
  /// `OutOfCapacity`. O(1).
  Result<SeqPlan> plan(std::uint32_t layer, std::uint32_t position, std::uint32_t n) const noexcept {
    return detail::Access::ask<SeqPlan>(kvc_seq_plan, cache_, layer, position, n);
  }
  /// Plans a step for all layer groups at once; answers the part of `out` that it wrote, group g at [g]. As `plan`;
  /// `BufferTooSmall` for fewer elements than groups, `kMaxGroups` are always enough. O(groups).
  Result<span<SeqPlan>> plan_step(std::uint32_t position, std::uint32_t n, span<SeqPlan> out) const noexcept {
    std::uint32_t groups = 0;
    const Status status = Status::from_raw(
        kvc_seq_plan_step(cache_, position, n, out.data(), detail::clamp(out.size()), &groups));
    if (!status.ok()) return status;
    return out.first(groups);
  }
  /// Keeps the first `accepted` tokens of the newest step. Once per step or once per layer, the result is the same;
  /// fewer than all close the step, 0 closes one that failed. `StalePlan` for an older plan, or another `accepted`
  /// than before; `InvalidArgument` for more tokens than the step has. O(1).
  Status commit(const SeqPlan& plan, std::uint32_t accepted) const noexcept {
    return Status::from_raw(kvc_seq_commit(cache_, &plan, accepted));
  }
  /// Keeps all tokens of the step.
  Status commit(const SeqPlan& plan) const noexcept { return commit(plan, plan.n_tokens); }

 private:
  friend class AnyCache;
  constexpr explicit SequencePlanner(kvc_cache_t* cache) noexcept : cache_(cache) {}
  kvc_cache_t* cache_ = nullptr;
};

// Caches.

/// Which family of calls a cache answers.
enum class Kind : std::uint32_t {
  Sequence = KVC_KIND_SEQUENCE,  ///< Plans one sequence.
  Cells = KVC_KIND_CELLS,        ///< A pool of cells shared by many sequences.
  Rows = KVC_KIND_ROWS,          ///< Many sequences with private rows.
  Paged = KVC_KIND_PAGED,        ///< Blocks, tables, prefix reuse.
};

/// What every cache answers, whoever owns it.
///
/// An *open face* is an object that a backend attaches to a cache under `T::kFaceName`, a constant of 1 to 63 bytes,
/// and finds again from the cache that it looked up by key.
///
/// ```cpp file
/// struct Pool {                                     // the backend's tensors
///   static constexpr const char* kFaceName = "mine.pool";
///   int rows = 0;
/// };
/// void free_pool(Pool& pool) { pool.rows = 0; }
/// ```
/// ```cpp
/// Pool pool, other;                                 // outlive the cache
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// assert(cache.kind().value() == kvc::Kind::Sequence && cache.capacity().value() == 64 && cache.clear().ok());
/// assert(cache.config().value().initial_capacity == 64 && cache.layer(0).value().rows == 64);
/// assert(cache.sequence_control() && cache.sequence_planner());
/// assert(cache.set_face<Pool>(pool).ok() && cache.face<Pool>().value() == &pool);
/// assert(cache.set_face<Pool>(other) == kvc::Code::AlreadyExists);
/// assert(cache.drop_face<Pool>().ok() && cache.face<Pool>().value_or(nullptr) == nullptr);
/// assert((cache.set_face<Pool, free_pool>(pool).ok()));    // free_pool(pool) when the cache ends
/// ```
class AnyCache {
 public:
  AnyCache(const AnyCache&) = delete;
  AnyCache& operator=(const AnyCache&) = delete;

  /// Whether there is a cache.
  constexpr explicit operator bool() const noexcept { return cache_ != nullptr; }

  /// Its family; what an external cache claims. O(1), never `Busy`.
  Result<Kind> kind() const noexcept {
    const auto kind = detail::Access::ask<std::uint32_t>(kvc_cache_kind, cache_);
    if (!kind.ok()) return kind.status();
    return static_cast<Kind>(kind.value());
  }
  /// Positions, cells or rows that it can hold; `kUnbounded` where only windows bound it. O(1).
  Result<std::uint32_t> capacity() const noexcept { return detail::Access::ask<std::uint32_t>(kvc_capacity, cache_); }
  /// Empties it. Plans made before are stale. O(groups).
  Status clear() const noexcept { return Status::from_raw(kvc_clear(cache_)); }
  /// The resolved config: `max_write` is what a step may really have, fields of other kinds are 0, and there are no
  /// layers in it: ask `layer`. `WrongKind` for an external cache. O(1).
  Result<Config> config() const noexcept {
    const auto raw = detail::Access::ask<kvc_config_t>(kvc_cache_config, cache_);
    if (!raw.ok()) return raw.status();
    return Config::from_raw(raw.value());
  }
  /// One of its layers. `BadLayer`; `WrongKind` for an external cache. O(1).
  Result<LayerInfo> layer(std::uint32_t layer) const noexcept {
    return detail::Access::ask<LayerInfo>(kvc_cache_layer, cache_, layer);
  }

  /// The application's face; empty for a cache of many sequences. An external cache offers what its kind claims; a call
  /// that it lacks answers `WrongKind`. Not from a temporary, which would take the cache along. O(1).
  SequenceControl sequence_control() const& noexcept { return SequenceControl(of(Kind::Sequence)); }
  /// The backend's face; likewise.
  SequencePlanner sequence_planner() const& noexcept { return SequencePlanner(of(Kind::Sequence)); }
  void sequence_control() const&& = delete;  ///< Keep the cache first.
  void sequence_planner() const&& = delete;  ///< Likewise.

  /// The object attached as `T`, borrowed while you hold a reference and nobody drops it. `NotFound`. O(faces).
  template <class T>
  Result<T*> face() const& noexcept {
    const auto object = detail::Access::ask<void*>(kvc_cache_face, cache_, name<T>());
    if (!object.ok()) return object.status();
    return static_cast<T*>(object.value());
  }
  /// Keep the cache first.
  template <class T>
  void face() const&& = delete;

  /// Attaches an object that outlives the cache, or its `drop_face`. Name the class that declares `kFaceName`, which
  /// may be a base of the object's. `AlreadyExists`, `TableFull` beyond `KVC_MAX_FACES`. O(faces).
  template <class T>
  Status set_face(typename detail::Exactly<T>::type& object) const noexcept {
    return Status::from_raw(kvc_cache_set_face(cache_, name<T>(), &object, nullptr));
  }
  /// As above; `Drop(object)` runs when the face is dropped or the cache ends, in the thread that does it.
  template <class T, void (*Drop)(T&)>
  Status set_face(typename detail::Exactly<T>::type& object) const noexcept {
    const auto drop = [](void* face) noexcept { Drop(*static_cast<T*>(face)); };
    return Status::from_raw(kvc_cache_set_face(cache_, name<T>(), &object, drop));
  }
  /// Takes a face off. Only whoever set it does that, when nobody uses it. `NotFound`. O(faces).
  template <class T>
  Status drop_face() const noexcept {
    return Status::from_raw(kvc_cache_drop_face(cache_, name<T>()));
  }

 protected:
  constexpr AnyCache() noexcept = default;
  constexpr explicit AnyCache(kvc_cache_t* cache) noexcept : cache_(cache) {}
  ~AnyCache() = default;

  /// Lets go of the reference. What runs when the cache ends may use, or even destroy, this object.
  void drop_reference() noexcept {
    kvc_cache_t* cache = std::exchange(cache_, nullptr);
    if (cache != nullptr) Status::from_raw(kvc_cache_release(cache)).ignore();
  }

  kvc_cache_t* cache_ = nullptr;

 private:
  kvc_cache_t* of(Kind family) const noexcept {
    const Result<Kind> found = kind();
    return found.ok() && found.value() == family ? cache_ : nullptr;
  }

  template <class T>
  static constexpr const char* name() noexcept {
    static_assert(detail::is_name(T::kFaceName), "kFaceName is 1 to KVC_MAX_NAME bytes long");
    static_assert(std::is_class_v<T> && !std::is_const_v<T>);
    return T::kFaceName;
  }
};

/// A reference to a cache. A copy is one more reference, the destructor lets go of it, and the last one ends the cache:
/// its faces are dropped, then the release callback runs. The storage outlives the last reference.
///
/// A copy is empty if the reference count is full (2^32 - 1); `retain` tells. A moved-from cache is empty.
///
/// ```cpp
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// kvc::Cache copy = cache;
/// assert(copy == cache && copy.retain().ok() && kvc::Cache::share(copy.get()).ok());
/// bool ended = false;
/// assert(cache.on_release([](void* flag, void*) { *static_cast<bool*>(flag) = true; }, &ended).ok());
/// cache.reset();
/// assert(!cache && cache != copy && !ended);
/// copy = kvc::Cache::adopt(copy.detach());
/// copy.reset();
/// assert(ended);
/// ```
class [[nodiscard]] Cache : public AnyCache {
 public:
  constexpr Cache() noexcept = default;  ///< Empty.
  /// One more reference, or empty.
  Cache(const Cache& other) noexcept : AnyCache(retained(other.cache_)) {}
  /// The same reference; the other is empty afterwards.
  Cache(Cache&& other) noexcept : AnyCache(other.detach()) {}
  /// Lets go of what was there.
  Cache& operator=(const Cache& other) noexcept { return *this = Cache(other); }
  /// Likewise.
  Cache& operator=(Cache&& other) noexcept {
    kvc_cache_t* taken = other.detach();
    drop_reference();
    cache_ = taken;
    return *this;
  }
  ~Cache() { drop_reference(); }

  /// Takes over a reference that came from C.
  static Cache adopt(kvc_cache_t* cache) noexcept { return Cache(cache); }
  /// One more reference to a cache that came from C, whose owner holds one. `InvalidArgument`, `Stale`, `Corrupt`,
  /// `OutOfCapacity`. O(1), never `Busy`.
  static Result<Cache> share(kvc_cache_t* cache) noexcept {
    const Status status = Status::from_raw(kvc_cache_retain(cache));
    if (!status.ok()) return status;
    return Cache(cache);
  }

  /// A copy that tells why there is none.
  Result<Cache> retain() const noexcept { return share(cache_); }
  /// The cache as C has it; still this object's reference.
  kvc_cache_t* get() const noexcept { return cache_; }
  /// Gives the reference away: whoever gets it releases it.
  kvc_cache_t* detach() noexcept { return std::exchange(cache_, nullptr); }
  /// Lets go of the reference.
  void reset() noexcept { drop_reference(); }

  /// Calls `release(context, storage)`, from any thread, when the cache ended: the storage is its owner's again. Once:
  /// then `AlreadyExists`. O(1).
  Status on_release(kvc_release_fn release, void* context) const noexcept {
    return Status::from_raw(kvc_cache_on_release(cache_, release, context));
  }

  friend bool operator==(const Cache& a, const Cache& b) noexcept { return a.cache_ == b.cache_; }
  friend bool operator!=(const Cache& a, const Cache& b) noexcept { return a.cache_ != b.cache_; }

 private:
  explicit Cache(kvc_cache_t* cache) noexcept : AnyCache(cache) {}
  static kvc_cache_t* retained(kvc_cache_t* cache) noexcept {
    return cache != nullptr && Status::from_raw(kvc_cache_retain(cache)).ok() ? cache : nullptr;
  }
};

namespace detail {

/// Takes over the cache that `call` makes.
template <class Call>
Result<Cache> made(Call call) noexcept {
  kvc_cache_t* cache = nullptr;
  const Status status = Status::from_raw(call(&cache));
  if (!status.ok()) return status;
  return Cache::adopt(cache);
}

}  // namespace detail

/// Bytes of storage that a one-sequence cache of this config wants. `InvalidConfig`. Any thread. O(layers).
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::flat());
/// assert(kvc::sequence_size(config).value() == sizeof(kvc::SequenceStorage<4>));
/// ```
inline Result<std::size_t> sequence_size(const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return detail::Access::ask<std::size_t>(kvc_sequence_size, &raw);
}

/// Builds a one-sequence cache in storage whose size is only known at run time. `InvalidArgument` (also misaligned
/// storage), `InvalidConfig`, `BufferTooSmall`. Any thread. O(layers).
///
/// ```cpp
/// static kvc::Buffer<2048> buffer;
/// assert(kvc::sequence_in(buffer, kvc::Config::uniform(64, 4, kvc::Layer::flat())).ok());
/// ```
inline Result<Cache> sequence_in(Storage storage, const Config& config) noexcept {
  const kvc_config_t raw = config.raw();
  return detail::made([&](kvc_cache_t** cache) {
    return kvc_sequence_init(storage.data(), storage.size(), &raw, cache);
  });
}

/// A cache whose storage is in the object: it has a single owner, neither copies nor moves, and cannot be installed in
/// a registry, where references could outlive it.
template <std::uint32_t Layers>
class SingleOwner : public AnyCache {
  static_assert(Layers >= 1 && Layers <= kMaxLayers, "a model has 1 to KVC_MAX_LAYERS layers");

 public:
  /// Ends the cache; its faces are dropped. The object may be initialised again.
  void reset() noexcept { drop_reference(); }

 protected:
  constexpr SingleOwner() noexcept = default;
  ~SingleOwner() { drop_reference(); }

  Status build(const Config& config) noexcept {
    if (cache_ != nullptr) return Code::AlreadyExists;
    const kvc_config_t raw = config.raw();
    return Status::from_raw(kvc_sequence_init(storage_.bytes, sizeof(storage_.bytes), &raw, &cache_));
  }

 private:
  SequenceStorage<Layers> storage_;
};

/// A one-sequence cache of up to `Layers` layers: as an object, or with `build_in` in storage of the caller's, to be
/// shared.
///
/// ```cpp
/// const kvc::Config config = kvc::Config::uniform(64, 4, kvc::Layer::ring(8, 1)).with_rollback(2);
/// kvc::SequenceCache<4> cache;                      // no cache yet
/// assert(!cache && cache.init(config).ok() && cache);
/// assert(cache.init(config) == kvc::Code::AlreadyExists);
/// cache.reset();
/// static kvc::SequenceStorage<4> storage;
/// assert(kvc::SequenceCache<4>::build_in(storage, config).ok());
/// ```
template <std::uint32_t Layers>
class SequenceCache : public SingleOwner<Layers> {
 public:
  constexpr SequenceCache() noexcept = default;  ///< No cache yet.
  /// Builds the cache. `InvalidConfig`, `AlreadyExists` for an object that has one, `BufferTooSmall` for more layers
  /// than there is room for. O(layers).
  Status init(const Config& config) noexcept { return this->build(config); }
  /// Builds a cache in storage that outlives its last reference, and that no cache uses. O(layers).
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, const Config& config) noexcept {
    return sequence_in(storage, config);
  }
};

/// The one-sequence cache that keeps all history in every layer.
///
/// ```cpp
/// kvc::FlatCache<26> cache;
/// assert(cache.init(4096).ok());
/// assert(cache.sequence_planner().plan(25, 0, 1).value().mask_kind() == kvc::Mask::None);
/// ```
template <std::uint32_t Layers>
class FlatCache : public SingleOwner<Layers> {
 public:
  constexpr FlatCache() noexcept = default;  ///< No cache yet.
  /// `capacity` positions. Otherwise as `SequenceCache::init`.
  Status init(std::uint32_t capacity, std::uint32_t n_layers = Layers) noexcept {
    return this->build(Config::uniform(capacity, n_layers, Layer::flat()));
  }
  /// As `SequenceCache::build_in`.
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, std::uint32_t capacity,
                                std::uint32_t n_layers = Layers) noexcept {
    return sequence_in(storage, Config::uniform(capacity, n_layers, Layer::flat()));
  }
};

/// The one-sequence cache with a window in every layer and no other end. Sinks and rollback: `SequenceCache`.
///
/// ```cpp
/// kvc::RingCache<26> cache;
/// assert(cache.init(512, 128).ok());                // a window of 512, steps of at most 128 tokens
/// assert(cache.layer(0).value().rows == 512 + 128 - 1 && cache.capacity().value() == kvc::kUnbounded);
/// ```
template <std::uint32_t Layers>
class RingCache : public SingleOwner<Layers> {
 public:
  constexpr RingCache() noexcept = default;  ///< No cache yet.
  /// Steps of at most `max_write` tokens, 0: of the window. Otherwise as `SequenceCache::init`.
  Status init(std::uint32_t window, std::uint32_t max_write = 0, std::uint32_t n_layers = Layers) noexcept {
    return this->build(config_of(window, max_write, n_layers));
  }
  /// As `SequenceCache::build_in`.
  static Result<Cache> build_in(SequenceStorage<Layers>& storage, std::uint32_t window, std::uint32_t max_write = 0,
                                std::uint32_t n_layers = Layers) noexcept {
    return sequence_in(storage, config_of(window, max_write, n_layers));
  }

 private:
  static constexpr Config config_of(std::uint32_t window, std::uint32_t max_write, std::uint32_t n_layers) noexcept {
    return Config::uniform(kUnbounded, n_layers, Layer::ring(window)).with_max_write(max_write);
  }
};

// Caches that a C++ class implements.

/// Base of a class that plays a one-sequence cache: hide the calls that it offers with functions of the same name and
/// signature; the others answer `WrongKind`. They run without any lock, in the thread of the caller. `plan_step`
/// answers the number of groups, and writes plans only if they all fit.
///
/// ```cpp file
/// struct Counter : kvc::ExternalSequence {
///   std::uint32_t tokens = 0;
///   kvc::Result<std::uint32_t> length() noexcept { return tokens; }
///   kvc::Status clear() noexcept { tokens = 0; return {}; }
/// };
/// ```
/// ```cpp
/// Counter counter;
/// counter.tokens = 7;
/// static kvc::ExternalStorage storage;
/// kvc::Cache cache = kvc::external_in(storage, counter).value();
/// assert(cache.sequence_control().length().value() == 7 && cache.clear().ok() && counter.tokens == 0);
/// assert(cache.sequence_control().rewind(0) == kvc::Code::WrongKind);
/// ```
struct ExternalSequence {
  /// As `SequenceControl::capacity`; so the others, each like the call of that name.
  Result<std::uint32_t> capacity() noexcept { return Code::WrongKind; }
  Status clear() noexcept { return Code::WrongKind; }                                           ///< Empties it.
  Result<bool> can_extend(std::uint32_t /*n*/) noexcept { return Code::WrongKind; }             ///< Room for n?
  Result<std::uint32_t> length() noexcept { return Code::WrongKind; }                           ///< Tokens held.
  Status rewind(std::uint32_t /*new_len*/) noexcept { return Code::WrongKind; }                 ///< Takes it back.
  Result<std::uint32_t> rewind_floor() noexcept { return Code::WrongKind; }                     ///< How far.
  /// As `SequencePlanner::plan`.
  Result<SeqPlan> plan(std::uint32_t /*layer*/, std::uint32_t /*position*/, std::uint32_t /*n*/) noexcept {
    return Code::WrongKind;
  }
  /// How many groups there are, whether or not `out` holds them.
  Result<std::uint32_t> plan_step(std::uint32_t /*position*/, std::uint32_t /*n*/, span<SeqPlan> /*out*/) noexcept {
    return Code::WrongKind;
  }
  /// As `SequencePlanner::commit`.
  Status commit(const SeqPlan& /*plan*/, std::uint32_t /*accepted*/) noexcept { return Code::WrongKind; }
};

namespace detail {

/// The functions of an external cache that call the members of `T`.
template <class T>
struct External {
  static T& self(void* object) noexcept { return *static_cast<T*>(object); }

  template <class V, class Out>
  static kvc_status_t put(const Result<V>& result, Out* out) noexcept {
    if (result.ok()) *out = result.value();
    return result.status().raw();
  }

  static kvc_status_t capacity(void* object, std::uint32_t* out) noexcept { return put(self(object).capacity(), out); }
  static kvc_status_t clear(void* object) noexcept { return Status(self(object).clear()).raw(); }
  static kvc_status_t can_extend(void* object, std::uint32_t n, bool* out) noexcept {
    return put(self(object).can_extend(n), out);
  }
  static kvc_status_t length(void* object, std::uint32_t* out) noexcept { return put(self(object).length(), out); }
  static kvc_status_t rewind(void* object, std::uint32_t new_len) noexcept {
    return Status(self(object).rewind(new_len)).raw();
  }
  static kvc_status_t rewind_floor(void* object, std::uint32_t* out) noexcept {
    return put(self(object).rewind_floor(), out);
  }
  static kvc_status_t plan(void* object, std::uint32_t layer, std::uint32_t position, std::uint32_t n,
                           kvc_seq_plan_t* out) noexcept {
    return put(self(object).plan(layer, position, n), out);
  }
  static kvc_status_t plan_step(void* object, std::uint32_t position, std::uint32_t n, kvc_seq_plan_t* plans,
                                std::uint32_t cap, std::uint32_t* n_groups) noexcept {
    const span<SeqPlan> out(static_cast<SeqPlan*>(plans), cap);
    const Result<std::uint32_t> groups = self(object).plan_step(position, n, out);
    if (!groups.ok()) return groups.status().raw();
    *n_groups = groups.value();
    return groups.value() > cap ? KVC_ERR_BUFFER_TOO_SMALL : KVC_OK;
  }
  static kvc_status_t commit(void* object, const kvc_seq_plan_t* plan, std::uint32_t accepted) noexcept {
    return Status(self(object).commit(SeqPlan{*plan}, accepted)).raw();
  }

  static constexpr kvc_external_t make() noexcept {
    kvc_external_t calls{};
    calls.struct_size = sizeof(kvc_external_t);
    calls.kind = KVC_KIND_SEQUENCE;
    calls.capacity = capacity;
    calls.clear = clear;
    calls.can_extend = can_extend;
    calls.length = length;
    calls.rewind = rewind;
    calls.rewind_floor = rewind_floor;
    calls.seq_plan = plan;
    calls.seq_plan_step = plan_step;
    calls.seq_commit = commit;
    return calls;
  }
  static constexpr kvc_external_t table = make();
};

}  // namespace detail

/// Makes a cache of an object. Storage and object outlive the last reference. Any thread. O(1).
template <class T>
Result<Cache> external_in(ExternalStorage& storage, T& object) noexcept {
  static_assert(std::is_base_of_v<ExternalSequence, T>, "derive the class from ExternalSequence");
  return detail::made([&](kvc_cache_t** cache) {
    return kvc_external_init(storage.bytes, sizeof(storage.bytes), &detail::External<T>::table, &object, cache);
  });
}

// Registry, builders, sessions.

/// A key, 1 to `KVC_MAX_NAME` bytes and a NUL.
struct Key {
  char text[KVC_KEY_BYTES] = {};                                  ///< With its NUL.
  constexpr const char* c_str() const noexcept { return text; }  ///< Lives in this object.
};

/// A key that no other call in this process ever gets: "cache-N". Any thread, never `Busy`. O(1).
///
/// ```cpp
/// assert(kvc::unique_key().value().c_str()[0] == 'c');
/// ```
inline Result<Key> unique_key() noexcept {
  Key key;
  const Status status = Status::from_raw(kvc_unique_key(key.text, sizeof(key.text)));
  if (!status.ok()) return status;
  return key;
}

/// How a backend builds a kind of cache: `size(config)` tells the bytes of storage, `build(config, storage)` builds a
/// cache there. Both may be lambdas, also with captures. A builder is a `constexpr` object with static lifetime, which
/// is how `Registry::register_builder` takes it: nothing that it holds can go away.
///
/// ```cpp file
/// // Sequence caches that leave room for four rejected drafts.
/// constexpr kvc::Builder drafting{
///     "mine", "drafting",
///     [](const kvc::Config& config) { return kvc::sequence_size(config); },
///     [](const kvc::Config& config, kvc::Storage at) { return kvc::sequence_in(at, config.with_rollback(4)); }};
/// ```
/// ```cpp
/// static kvc::Buffer<8192> registry_storage;
/// kvc::Registry registry = kvc::Registry::build_in(registry_storage).value();
/// assert(registry.register_builder<drafting>().ok() && registry.register_sequence().ok());
/// assert(registry.kind_at("mine", 0).value()[0] == 'd');
///
/// static kvc::SequenceStorage<2> storage;
/// const kvc::Config config = kvc::Config::uniform(64, 2, kvc::Layer::ring(8));
/// assert(registry.builder_size("mine", "drafting", config).value() == sizeof(storage));
/// kvc::Cache cache = registry.build("mine", "drafting", config, storage).value();
/// assert(cache.config().value().rollback == 4 && registry.unregister_builder("mine", "drafting").ok());
/// ```
template <class Size, class Build>
struct Builder {
  static_assert(std::is_invocable_r_v<Result<std::size_t>, const Size&, const Config&>,
                "size is called as Result<std::size_t>(const Config&)");
  static_assert(std::is_invocable_r_v<Result<Cache>, const Build&, const Config&, Storage>,
                "build is called as Result<Cache>(const Config&, Storage)");

  const char* backend_id;  ///< 1 to `KVC_MAX_NAME` bytes.
  const char* kind;        ///< Likewise.
  Size size;
  Build build;
};
template <class Size, class Build>
Builder(const char*, const char*, Size, Build) -> Builder<Size, Build>;

/// Caches under keys, and the builders of a backend's kinds. A handle: copies are the same registry.
///
/// Every call: `InvalidArgument`, `NameTooLong` for a key or name, `Stale` for a closed registry, `Corrupt`, `Busy`;
/// any thread; O(entries) or O(builders).
///
/// ```cpp
/// static kvc::Buffer<8192> buffer;                  // at least `storage_size()`
/// kvc::Registry registry = kvc::Registry::build_in(buffer).value();
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// assert(registry.install("chat", cache).ok() && registry.count().value() == 1);
/// assert(registry.install("chat", cache) == kvc::Code::AlreadyExists);
/// kvc::Cache found = registry.get("chat").value();      // one more reference
/// assert(found == cache && registry.key_at(0).value().c_str()[0] == 'c');
/// assert(registry.erase("chat").ok() && registry.get("chat").status() == kvc::Code::NotFound);
/// assert(found.capacity().value() == 64);               // goes on
/// assert(registry.deinit().ok() && registry.count().status() == kvc::Code::Stale);
/// assert(kvc::Registry::global() && kvc::Registry::from_raw(registry.get()) == registry);
/// assert(kvc::Registry::storage_size() <= sizeof(buffer));
/// ```
class Registry {
 public:
  constexpr Registry() noexcept = default;  ///< Empty.
  /// Is there a registry?
  constexpr explicit operator bool() const noexcept { return registry_ != nullptr; }

  /// The registry of the process. An application and a delegate that are two shared objects, each with kvcore inside,
  /// have two of them.
  static Registry global() noexcept { return Registry(kvc_registry_global()); }
  /// A registry that came from C.
  static constexpr Registry from_raw(kvc_registry_t* registry) noexcept { return Registry(registry); }
  /// Bytes of storage that a registry wants; depends on the limits of the library's build.
  static std::size_t storage_size() noexcept { return kvc_registry_size(); }
  /// Builds an empty registry in storage that outlives its `deinit` and every session. `BufferTooSmall`. O(1).
  static Result<Registry> build_in(Storage storage) noexcept {
    const auto raw = detail::Access::ask<kvc_registry_t*>(kvc_registry_init, storage.data(), storage.size());
    if (!raw.ok()) return raw.status();
    return Registry(raw.value());
  }
  /// Closes it and lets go of all it holds. Close sessions first. `Busy`: call again. `Unsupported` for the global one.
  Status deinit() const noexcept { return Status::from_raw(kvc_registry_deinit(registry_)); }
  /// The registry as C has it.
  constexpr kvc_registry_t* get() const noexcept { return registry_; }

  /// Puts a cache under a key, which is copied; the entry holds a reference of its own. `AlreadyExists`, `TableFull`.
  Status install(const char* key, const Cache& cache) const noexcept {
    return Status::from_raw(kvc_registry_install(registry_, key, cache.get()));
  }
  /// A cache with in-object storage has a single owner: build it with `build_in`, in storage of its own.
  template <std::uint32_t Layers>
  Status install(const char* key, const SingleOwner<Layers>& cache) const = delete;
  /// The cache under a key, with a reference for the caller. `NotFound`.
  Result<Cache> get(const char* key) const noexcept {
    return detail::made([&](kvc_cache_t** cache) { return kvc_registry_get(registry_, key, cache); });
  }
  /// Takes an entry out and lets go of its reference; whoever else holds one goes on. `NotFound`.
  Status erase(const char* key) const noexcept { return Status::from_raw(kvc_registry_erase(registry_, key)); }
  /// Caches installed. O(1).
  Result<std::uint32_t> count() const noexcept {
    return detail::Access::ask<std::uint32_t>(kvc_registry_count, registry_);
  }
  /// The key at an index below the count; the order changes when entries go. `NotFound`. O(index).
  Result<Key> key_at(std::uint32_t index) const noexcept {
    Key key;
    const Status status = Status::from_raw(kvc_registry_key_at(registry_, index, key.text, sizeof(key.text)));
    if (!status.ok()) return status;
    return key;
  }

  /// Registers a builder under its backend id and kind. `AlreadyExists`, `TableFull`.
  template <const auto& B>
  Status register_builder() const noexcept {
    static_assert(detail::is_name(B.backend_id) && detail::is_name(B.kind), "1 to KVC_MAX_NAME bytes");
    const auto size = [](void*, const kvc_config_t* config, std::size_t* out) noexcept -> kvc_status_t {
      const Result<std::size_t> bytes = B.size(Config::from_raw(*config));
      if (bytes.ok()) *out = bytes.value();
      return bytes.status().raw();
    };
    const auto build = [](void*, const kvc_config_t* config, void* at, std::size_t bytes,
                          kvc_cache_t** out) noexcept -> kvc_status_t {
      Result<Cache> cache = B.build(Config::from_raw(*config), Storage(at, bytes));
      if (cache.ok()) *out = cache.value().detach();
      return cache.status().raw();
    };
    return Status::from_raw(kvc_builder_register(registry_, B.backend_id, B.kind, size, build, nullptr));
  }
  /// Registers the built-in one-sequence kind: "kvcore", "sequence".
  Status register_sequence() const noexcept { return Status::from_raw(kvc_sequence_register(registry_)); }
  /// Takes a builder out; a build that has begun goes on. `NotFound`.
  Status unregister_builder(const char* backend_id, const char* kind) const noexcept {
    return Status::from_raw(kvc_builder_unregister(registry_, backend_id, kind));
  }
  /// Bytes of storage that a cache of this kind and config wants. `NotFound`, `InvalidConfig`, and what the builder
  /// answers.
  Result<std::size_t> builder_size(const char* backend_id, const char* kind, const Config& config) const noexcept {
    const kvc_config_t raw = config.raw();
    return detail::Access::ask<std::size_t>(kvc_builder_size, registry_, backend_id, kind, &raw);
  }
  /// Builds a cache in storage that outlives its last reference. As `builder_size`; `Corrupt` for a builder that
  /// reports success without a cache. The builder runs without any lock.
  Result<Cache> build(const char* backend_id, const char* kind, const Config& config, Storage storage) const noexcept {
    const kvc_config_t raw = config.raw();
    return detail::made([&](kvc_cache_t** cache) {
      return kvc_builder_build(registry_, backend_id, kind, &raw, storage.data(), storage.size(), cache);
    });
  }
  /// The kind of a backend's `index`-th builder, as registered. `NotFound` behind the last one.
  Result<const char*> kind_at(const char* backend_id, std::uint32_t index) const noexcept {
    return detail::Access::ask<const char*>(kvc_builder_kind_at, registry_, backend_id, index);
  }

  friend constexpr bool operator==(Registry a, Registry b) noexcept { return a.registry_ == b.registry_; }
  friend constexpr bool operator!=(Registry a, Registry b) noexcept { return a.registry_ != b.registry_; }

 private:
  constexpr explicit Registry(kvc_registry_t* registry) noexcept : registry_(registry) {}
  kvc_registry_t* registry_ = nullptr;
};

/// What an event hook is told.
enum class Event : std::uint32_t {
  Installed = KVC_EVENT_INSTALLED,  ///< A cache went into a registry, under the key.
  Erased = KVC_EVENT_ERASED,        ///< An entry left its registry.
  Evicted = KVC_EVENT_EVICTED,      ///< A step made a window drop positions.
  Refused = KVC_EVENT_REFUSED,      ///< A call failed with the status.
  Busy = KVC_EVENT_BUSY,            ///< A call gave up waiting for a lock.
  Leaked = KVC_EVENT_LEAKED,        ///< A session's destructor could not erase its entry, which stays.
  Ended = KVC_EVENT_ENDED,          ///< The last reference of a cache went.
};

/// Sets the event hook of the process, or none with a null pointer. It is called as (context, `KVC_EVENT_…`, status,
/// key or null), without any lock, in the context of the call that caused the event, an interrupt too; it must not
/// block. Set it before anything is shared between threads. O(1).
///
/// ```cpp
/// static unsigned ended = 0;
/// kvc::set_event_hook([](void*, std::uint32_t event, kvc_status_t, const char*) {
///   if (static_cast<kvc::Event>(event) == kvc::Event::Ended) ++ended;
/// });
/// kvc::FlatCache<1> cache;
/// assert(cache.init(8).ok());
/// cache.reset();
/// kvc::set_event_hook(nullptr);
/// assert(ended == 1);
/// ```
inline void set_event_hook(kvc_event_fn call, void* context = nullptr) noexcept {
  kvc_set_event_hook(call, context);
}

/// An entry in a registry for as long as the application works with a cache. Moves, does not copy. It holds no
/// reference, and erases only the entry that it made: what somebody else has put under the key since stays.
///
/// The destructor waits at most as long as the lock does; if the lock stays held the entry stays too, with its
/// reference, and `Event::Leaked` is reported. In an interrupt call `close` and look at the answer.
///
/// ```cpp
/// static kvc::SequenceStorage<1> storage;
/// kvc::Cache cache = kvc::FlatCache<1>::build_in(storage, 64).value();
/// {
///   kvc::Session session = kvc::Session::open(kvc::Registry::global(), cache).value();
///   assert(session.is_open() && kvc::Registry::global().get(session.key()).ok());    // the backend's way to it
///   kvc::Session moved = std::move(session);
///   assert(!session.is_open() && moved.close().ok() && moved.close().ok());
///   moved = kvc::Session::open(kvc::Registry::global(), "chat", cache).value();
/// }
/// assert(kvc::Registry::global().get("chat").status() == kvc::Code::NotFound);
/// ```
class [[nodiscard]] Session {
 public:
  constexpr Session() noexcept = default;  ///< Closed.
  /// The other is closed afterwards.
  Session(Session&& other) noexcept : raw_(std::exchange(other.raw_, kvc_session_t{})) {}
  /// Closes what was open here, as the destructor does.
  Session& operator=(Session&& other) noexcept {
    const kvc_session_t taken = std::exchange(other.raw_, kvc_session_t{});
    finish();
    raw_ = taken;
    return *this;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { finish(); }

  /// Installs a cache under a key of yours, or a generated one that nobody took. As `Registry::install`. O(entries).
  static Result<Session> open(Registry registry, const char* key_or_null, const Cache& cache) noexcept {
    Session session;
    const Status status =
        Status::from_raw(kvc_session_open(&session.raw_, registry.get(), key_or_null, cache.get()));
    if (!status.ok()) return status;
    return Result<Session>(std::move(session));
  }
  /// Under a generated key.
  static Result<Session> open(Registry registry, const Cache& cache) noexcept { return open(registry, nullptr, cache); }
  /// As `Registry::install`: build it with `build_in`.
  template <std::uint32_t Layers>
  static Result<Session> open(Registry, const char*, const SingleOwner<Layers>&) = delete;
  template <std::uint32_t Layers>
  static Result<Session> open(Registry, const SingleOwner<Layers>&) = delete;

  /// Erases the entry, if it is still this session's. Twice is fine. `Busy`: still open, call again. `Stale`: the
  /// registry is closed. O(entries).
  Status close() noexcept { return Status::from_raw(kvc_session_close(&raw_)); }
  /// Has it an entry to erase?
  constexpr bool is_open() const noexcept { return raw_.id != 0; }
  /// The key that the backend needs; empty for a session that never was open. It lives in this object.
  constexpr const char* key() const& noexcept { return raw_.key; }
  void key() const&& = delete;  ///< Keep the session first.

 private:
  void finish() noexcept {
    if (is_open()) kvc_session_drop(&raw_);
  }

  kvc_session_t raw_{};
};

}  // namespace kvc

#endif  // KVCORE_HPP
