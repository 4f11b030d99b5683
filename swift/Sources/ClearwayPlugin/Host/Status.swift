// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel

/// Returns the code for a status of clearway.h.
///
/// A status that the ABI does not define is a bad answer, and one from 1000 on belongs to the
/// plugin, whose handler has failed.
func code(of status: clearway_status) -> ClearwayError.Code {
  switch status {
  case CLEARWAY_INVALID_ARGUMENT, CLEARWAY_ALREADY_EXISTS: .invalidArgument
  case CLEARWAY_STALE: .released
  case CLEARWAY_OUT_OF_MEMORY: .outOfMemory
  case CLEARWAY_TOO_LARGE: .tooLarge
  case CLEARWAY_FULL: .full
  case CLEARWAY_CLOSED: .closed
  case CLEARWAY_NO_HANDLER: .noHandler
  case CLEARWAY_VERSION: .wrongVersion
  case CLEARWAY_LOAD_FAILED: .loadFailed
  case CLEARWAY_NOT_A_PLUGIN: .notAPlugin
  case CLEARWAY_INIT_FAILED: .initFailed
  case CLEARWAY_PANICKED: .panicked
  case CLEARWAY_NOT_IMPLEMENTED: .notImplemented
  case CLEARWAY_FAILED: .failed
  case CLEARWAY_CANCELLED, CLEARWAY_TIMEOUT: .cancelled
  case CLEARWAY_OVERFLOW: .overflow
  case 1000...: .failed
  default: .badAnswer
  }
}

/// Returns the error for a status other than OK.
///
/// `text` is the message of the other side.
func error(_ status: clearway_status, _ what: String, _ text: String = "") -> ClearwayError {
  let code = code(of: status)
  return ClearwayError(
    code, "\(what): \(text.isEmpty ? "\(code.rawValue) (status \(status))" : text)")
}

func invalid(_ name: String, mustBe rule: String, _ value: some Any) -> ClearwayError {
  ClearwayError(.invalidArgument, "\(name) must be \(rule): \(name)=\(value)")
}
