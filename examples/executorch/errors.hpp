// kvcore's statuses as errors of the runtime.
#pragma once

#include <executorch/runtime/core/error.h>
#include <kvcore.h>

inline executorch::runtime::Error to_error(kvc_status_t status) {
  using executorch::runtime::Error;
  switch (status) {
    case KVC_OK: return Error::Ok;
    case KVC_ERR_NOT_FOUND: return Error::NotFound;
    case KVC_ERR_WRONG_KIND: return Error::InvalidType;
    case KVC_ERR_OUT_OF_CAPACITY:
    case KVC_ERR_NEVER_FITS:
    case KVC_ERR_TABLE_FULL: return Error::OutOfResources;
    case KVC_ERR_INVALID_ARGUMENT:
    case KVC_ERR_INVALID_CONFIG:
    case KVC_ERR_BAD_LAYER:
    case KVC_ERR_BAD_POSITION:
    case KVC_ERR_BAD_SEQUENCE:
    case KVC_ERR_STEP_TOO_LARGE:
    case KVC_ERR_NAME_TOO_LONG: return Error::InvalidArgument;
    case KVC_ERR_BUSY: return Error::AccessFailed;
    case KVC_ERR_NO_STEP:
    case KVC_ERR_STALE:
    case KVC_ERR_STALE_PLAN: return Error::InvalidState;
    case KVC_ERR_UNSUPPORTED: return Error::NotSupported;
    default: return Error::Internal;
  }
}
