#include "pools.hpp"

#include "errors.hpp"
#include "model.hpp"

#include <algorithm>
#include <new>

using executorch::runtime::Error;

Error Pools::of(kvc_cache_t* cache, std::size_t n_layers, const Heads& heads, Pools*& out) {
  void* found = nullptr;
  kvc_status_t status = kvc_cache_face(cache, kFaceName, &found);
  if (status == KVC_ERR_NOT_FOUND) {
    auto* const made = new (std::nothrow) Pools(n_layers, heads);
    if (made == nullptr) return Error::MemoryAllocationFailed;
    const auto drop = [](void* pools) noexcept { delete static_cast<Pools*>(pools); };
    status = kvc_cache_set_face(cache, kFaceName, made, drop);
    if (status != KVC_OK) delete made;
    // Another method's init may have come first.
    if (status == KVC_OK || status == KVC_ERR_ALREADY_EXISTS) status = kvc_cache_face(cache, kFaceName, &found);
  }
  if (status != KVC_OK) return to_error(status);
  auto* const pools = static_cast<Pools*>(found);
  const bool fits = pools->n_layers_ == n_layers && pools->heads_.n_kv_heads == heads.n_kv_heads &&
                    pools->heads_.head_dim == heads.head_dim;
  out = pools;
  return fits ? Error::Ok : Error::InvalidArgument;
}

Pool& Pools::own(std::uint32_t seq, std::size_t layer) {
  return pools_.try_emplace(seq, n_layers_).first->second[layer];
}

void Pools::copy(const Pool& from, std::uint32_t from_row, Pool& to, std::uint32_t to_row, std::uint32_t n) {
  const std::size_t stride = heads_.n_kv_heads * heads_.head_dim;
  for (std::size_t i = 0; i < n * stride; ++i) {
    to.keys[to_row * stride + i] = from.keys[from_row * stride + i];
    to.values[to_row * stride + i] = from.values[from_row * stride + i];
  }
}

kvc_status_t Pools::clone(const kvc_cache_t* cache, std::uint32_t src, std::uint32_t dst) {
  pools_.erase(dst);
  for (std::uint32_t layer = 0; layer < n_layers_; ++layer) {
    kvc_run_t runs[3] = {};
    std::uint32_t n = 0;
    const Pool& from = own(src, layer);
    Pool& to = own(dst, layer);
    to.grow(from.rows, heads_);
    const kvc_status_t status = kvc_rows_held(cache, layer, dst, runs, 3, &n);
    if (status == KVC_ERR_WRONG_KIND) {
      // A cache of C++ does not tell; then all of them.
      to = from;
      continue;
    }
    if (status != KVC_OK) return status;
    for (std::uint32_t i = 0; i < n; ++i) copy(from, runs[i].start, to, runs[i].start, runs[i].len);
  }
  return KVC_OK;
}

kvc_status_t Pools::carry_out_shifts(kvc_cache_t* cache) {
  bool any = false;
  for (std::uint32_t layer = 0; layer < n_layers_; ++layer) {
    std::uint32_t n = 0;
    kvc_status_t status = kvc_cells_shifts(cache, layer, nullptr, 0, &n);
    if (status != KVC_ERR_BUFFER_TOO_SMALL && status != KVC_OK) return status;
    if (n == 0) continue;
    std::vector<kvc_shift_t> shifts(n);
    status = kvc_cells_shifts(cache, layer, shifts.data(), n, &n);
    if (status != KVC_OK) return status;
    any = true;
    for (const kvc_shift_t& shift : shifts) {
      for (std::size_t key = shift.row * heads_.n_kv_heads; key < (shift.row + shift.len) * heads_.n_kv_heads; ++key) {
        rotate(&shared(layer).keys[key * heads_.head_dim], static_cast<int>(heads_.head_dim), shift.delta);
      }
    }
  }
  return any ? kvc_cells_shifts_done(cache) : KVC_OK;
}

kvc_status_t Pools::compact(kvc_cache_t* cache) {
  kvc_config_t config;
  kvc_status_t status = kvc_cache_config(cache, &config);
  if (status != KVC_OK) return status;
  const bool split = (config.flags & KVC_SPLIT_POOLS) != 0;
  std::vector<std::uint32_t> pool_of(n_layers_);
  for (std::uint32_t layer = 0; layer < n_layers_; ++layer) {
    kvc_layer_info_t info;
    status = kvc_cache_layer(cache, layer, &info);
    if (status != KVC_OK) return status;
    pool_of[layer] = split ? info.group : 0;
  }
  for (std::uint32_t layer = 0; layer < n_layers_; ++layer) {
    kvc_move_t moves[4];
    for (std::uint32_t n = 1; n > 0;) {
      status = kvc_cells_defrag(cache, layer, moves, 4, &n);
      if (status != KVC_OK) return status;
      for (std::size_t other = 0; other < n_layers_; ++other) {
        if (pool_of[other] != pool_of[layer]) continue;
        for (std::uint32_t i = 0; i < n; ++i) {
          copy(shared(other), moves[i].from, shared(other), moves[i].to, moves[i].len);
        }
      }
    }
  }
  return KVC_OK;
}
