/// What a cache is built from.
#ifndef KVCORE_CONFIG_HPP
#define KVCORE_CONFIG_HPP

#include "memory.hpp"

namespace kvc {

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

inline constexpr std::uint32_t kSplitPools = KVC_SPLIT_POOLS;  ///< Flag: a pool of cells for each layer group.
inline constexpr std::uint32_t kKeepCells = KVC_KEEP_CELLS;    ///< Flag: cells behind every window stay.

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
/// kvc::Config many = kvc::Config::of(4096, layers).with_max_seqs(8).with_flags(kvc::kSplitPools | kvc::kKeepCells);
/// assert(many.check().ok() && many.raw().max_seqs == 8);
/// assert(kvc::Config::from_raw(uniform.raw()).layers.size() == 1);
/// assert(kvc::Config::uniform(64, 0, kvc::Layer::flat()).check() == kvc::Code::InvalidConfig);
/// ```
struct Config {
  std::uint32_t capacity = 0;            ///< Positions (`kUnbounded`: only windows bound it), cells, or shared rows.
  std::uint32_t n_layers = 0;            ///< Layers of the model; 0: as many as `layers` has.
  Layer layer = Layer::flat();           ///< All layers, if `layers` is empty.
  span<const Layer> layers{};            ///< Empty, one for all layers, or one each; borrowed.
  std::uint32_t max_write = 0;           ///< Most tokens of a step; 0: each ring's window, no bound for flat layers; of a cell
                                          ///< cache all sequences together, 0: as many as it has cells.
  std::uint32_t rollback = 0;            ///< Extra ring rows: rejected tokens that can be taken back; of a cell cache,
                                          ///< positions that it keeps behind a window for that.
  std::uint32_t max_context = 0;         ///< Positions that a sequence may reach; 0: no bound of its own.
  std::uint32_t initial_capacity = 512;  ///< Rows that a growing pool starts with.
  std::int32_t kv_dtype = 0;             ///< Element type of the tensors, opaque here.
  std::uint32_t max_seqs = 0;            ///< Most sequences: 1 to `kMaxSeqs` (cells), 1 to 4096 (rows).
  std::uint32_t block_size = 0;          ///< Rows of a block (paged).
  std::uint32_t max_blocks_per_seq = 0;  ///< Most blocks of a sequence (paged).
  std::uint32_t watermark = 0;           ///< Blocks kept free at admission (paged).
  std::uint32_t flags = 0;               ///< `kSplitPools`, `kKeepCells` (cells).
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
  constexpr Config with_max_seqs(std::uint32_t sequences) const noexcept {
    return detail::with(*this, &Config::max_seqs, sequences);
  }
  constexpr Config with_flags(std::uint32_t bits) const noexcept { return detail::with(*this, &Config::flags, bits); }
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

}  // namespace kvc

#endif  // KVCORE_CONFIG_HPP
