#include "test.hpp"

#include <cstring>
#include <type_traits>

namespace {

static_assert(sizeof(kvc::Status) == sizeof(kvc_status_t));
static_assert(std::is_trivially_copyable_v<kvc::Status>);
static_assert(kvc::Status().ok());
static_assert(kvc::Status(kvc::Code::Busy).raw() == KVC_ERR_BUSY);

TEST_CASE("every code is the status of C and has its name") {
  const struct {
    kvc::Code code;
    const char* name;
  } all[] = {
      {kvc::Code::Ok, "KVC_OK"},
      {kvc::Code::InvalidArgument, "KVC_ERR_INVALID_ARGUMENT"},
      {kvc::Code::InvalidConfig, "KVC_ERR_INVALID_CONFIG"},
      {kvc::Code::OutOfCapacity, "KVC_ERR_OUT_OF_CAPACITY"},
      {kvc::Code::NeverFits, "KVC_ERR_NEVER_FITS"},
      {kvc::Code::StepTooLarge, "KVC_ERR_STEP_TOO_LARGE"},
      {kvc::Code::BadLayer, "KVC_ERR_BAD_LAYER"},
      {kvc::Code::BadPosition, "KVC_ERR_BAD_POSITION"},
      {kvc::Code::Evicted, "KVC_ERR_EVICTED"},
      {kvc::Code::CannotGrow, "KVC_ERR_CANNOT_GROW"},
      {kvc::Code::StalePlan, "KVC_ERR_STALE_PLAN"},
      {kvc::Code::NotFound, "KVC_ERR_NOT_FOUND"},
      {kvc::Code::AlreadyExists, "KVC_ERR_ALREADY_EXISTS"},
      {kvc::Code::TableFull, "KVC_ERR_TABLE_FULL"},
      {kvc::Code::NameTooLong, "KVC_ERR_NAME_TOO_LONG"},
      {kvc::Code::WrongKind, "KVC_ERR_WRONG_KIND"},
      {kvc::Code::BufferTooSmall, "KVC_ERR_BUFFER_TOO_SMALL"},
      {kvc::Code::Busy, "KVC_ERR_BUSY"},
      {kvc::Code::Stale, "KVC_ERR_STALE"},
      {kvc::Code::Corrupt, "KVC_ERR_CORRUPT"},
      {kvc::Code::Unsupported, "KVC_ERR_UNSUPPORTED"},
      {kvc::Code::BadSequence, "KVC_ERR_BAD_SEQUENCE"},
      {kvc::Code::NoStep, "KVC_ERR_NO_STEP"},
      {kvc::Code::Shared, "KVC_ERR_SHARED"},
  };
  kvc_status_t value = 0;
  for (const auto& one : all) {
    const kvc::Status status = one.code;
    CHECK(status.raw() == value);
    CHECK(kvc::Status::from_raw(value) == status);
    CHECK(std::strcmp(status.name(), one.name) == 0);
    CHECK(status.ok() == (value == 0));
    ++value;
  }
}

TEST_CASE("a status of a later version is a failure like any other") {
  const kvc::Status status = kvc::Status::from_raw(1000);
  CHECK_FALSE(status.ok());
  CHECK(status.raw() == 1000);
  CHECK(status != kvc::Code::Shared);
  CHECK(status.name() != nullptr);
}

TEST_CASE("a result has a value or a status") {
  constexpr kvc::Result<int> five = 5;
  static_assert(five.ok() && five.value() == 5 && five.value_or(1) == 5);
  constexpr kvc::Result<int> none = kvc::Code::Evicted;
  static_assert(!none.ok() && none.status() == kvc::Code::Evicted && none.value_or(1) == 1);

  kvc::Result<int> changed = 1;
  changed.value() = 7;
  CHECK(changed.value() == 7);
  CHECK(kvc::Result<int>(3).value() == 3);
}

TEST_CASE("success without a value is a fault of whoever says so") {
  const kvc::Result<int> odd = kvc::Status();
  CHECK(odd.status() == kvc::Code::Corrupt);
}

TEST_CASE("a result of false is still a result") {
  const kvc::Result<bool> no = false;
  CHECK(no.ok());
  CHECK_FALSE(no.value());
}

struct MoveOnly {
  MoveOnly() noexcept = default;
  explicit MoveOnly(int value) noexcept : number(value) {}
  MoveOnly(MoveOnly&& other) noexcept : number(std::exchange(other.number, 0)) {}
  MoveOnly& operator=(MoveOnly&&) = delete;
  int number = 0;
};

TEST_CASE("a result hands a value on that only moves") {
  kvc::Result<MoveOnly> result = MoveOnly(4);
  const MoveOnly taken = std::move(result).value();
  CHECK(taken.number == 4);
  CHECK(result.value().number == 0);
  CHECK(kvc::Result<MoveOnly>(MoveOnly(6)).value_or(MoveOnly(9)).number == 6);
  CHECK(kvc::Result<MoveOnly>(kvc::Code::Busy).value_or(MoveOnly(9)).number == 9);
}

static_assert(!std::is_convertible_v<kvc::Result<int>, int>);
static_assert(!std::is_constructible_v<bool, kvc::Result<bool>>);
static_assert(!std::is_constructible_v<bool, kvc::Status>);

TEST_CASE("the header fits the library") { CHECK(kvc::check_header()); }

}  // namespace
