// The comparison: the same bookkeeping as a C++ author of today's runtimes writes it, over the standard library.
//
// A planner reached through a virtual interface, one layout object a layer, plans by value in a std::optional, the
// ring by modulo; a registry of shared pointers in an unordered_map behind a std::mutex. It keeps no residency, plans
// no masks or sinks, and its planner takes no lock: it does less work than kvcore for every plan.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace peer {

// Consecutive rows.
struct Run {
  int start;
  int len;
};

// Where a step writes and what it reads, oldest first. Runs beyond the counts are not set.
struct Plan {
  Run write[2];
  int n_write = 0;
  Run read[2];
  int n_read = 0;
  int read_from = 0;  // position of the first row read
};

// A layer's pool. Window 0: all history.
struct Layer {
  int window = 0;
};

struct Config {
  int capacity = 0;
  int max_write = 1;
  std::vector<Layer> layers;
};

class Layout {
 public:
  virtual ~Layout() = default;
  virtual Plan plan(int position, int n) const = 0;
};

class FlatLayout final : public Layout {
 public:
  Plan plan(int position, int n) const override;
};

class RingLayout final : public Layout {
 public:
  RingLayout(int window, int rows) : window_(window), rows_(rows) {}
  Plan plan(int position, int n) const override;

 private:
  int split(int first, int count, Run (&runs)[2]) const;

  int window_;
  int rows_;
};

class Cache {
 public:
  virtual ~Cache() = default;
  virtual int length() const = 0;
};

// What a backend sees of a cache.
class Planner {
 public:
  virtual ~Planner() = default;
  virtual std::optional<Plan> plan(int layer, int position, int n) const = 0;
  virtual void commit(const Plan& plan) = 0;
};

class SequenceCache final : public Cache, public Planner {
 public:
  explicit SequenceCache(const Config& config);
  int length() const override;
  std::optional<Plan> plan(int layer, int position, int n) const override;
  void commit(const Plan& plan) override;

 private:
  struct Entry {
    std::unique_ptr<Layout> layout;
    int max_step;
  };

  int capacity_;
  int length_ = 0;
  std::vector<Entry> layers_;
};

class Registry {
 public:
  bool install(const std::string& key, std::shared_ptr<Cache> cache);
  std::shared_ptr<Cache> get(const std::string& key) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Cache>> caches_;
};

}  // namespace peer
