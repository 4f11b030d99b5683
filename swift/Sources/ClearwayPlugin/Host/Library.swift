// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel
import ClearwayThreads
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// libclearway, loaded once and never unloaded.
///
/// Threads of its plugins may run in it until the process ends.
struct Library: @unchecked Sendable {
  // Allocated once, and never changed or freed.
  let c: UnsafePointer<cclearway>

  private static let loaded = Locked<Library?>(nil)
  private static let abiMajor = 1

  /// Returns the library.
  ///
  /// The first call loads it: from `path`, else from the environment variable CLEARWAY_LIBRARY,
  /// else as the system's loader finds it.
  static func load(_ path: String?) throws(ClearwayError) -> Library {
    let named = path ?? getenv("CLEARWAY_LIBRARY").map { String(cString: $0) } ?? systemName
    return try loaded.with { loaded throws(ClearwayError) in
      if let loaded { return loaded }
      let library = try open(named)
      loaded = library
      return library
    }
  }

  private static var systemName: String {
    #if canImport(Darwin)
      "libclearway.dylib"
    #else
      "libclearway.so"
    #endif
  }

  private static func open(_ path: String) throws(ClearwayError) -> Library {
    let functions = UnsafeMutablePointer<cclearway>.allocate(capacity: 1)
    var error = [CChar](repeating: 0, count: 1024)
    guard cclearway_load(path, functions, &error, error.count) == 0 else {
      functions.deallocate()
      throw ClearwayError(
        .addonMissing,
        "libclearway cannot be loaded: \(text(error)); build it with: "
          + "cargo build --release -p clearway-abi, and name it by CLEARWAY_LIBRARY")
    }
    let version = Int(functions.pointee.version() >> 16)
    guard version == abiMajor else {
      functions.deallocate()
      throw ClearwayError(
        .addonMissing, "libclearway is of another version: \(version), not \(abiMajor)")
    }
    return Library(c: UnsafePointer(functions))
  }
}

/// Returns the text of a buffer up to its zero.
func text(_ buffer: [CChar]) -> String {
  String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Returns a text that C lends.
func text(_ lent: clearway_text) -> String {
  guard let data = lent.data else { return "" }
  return String(decoding: UnsafeRawBufferPointer(start: data, count: lent.size), as: UTF8.self)
}

/// Lends a text to C during `body`.
func withText<R>(_ text: String, _ body: (clearway_text) throws -> R) rethrows -> R {
  var text = text
  return try text.withUTF8 { bytes in
    try bytes.withMemoryRebound(to: CChar.self) {
      try body(clearway_text(data: $0.baseAddress, size: $0.count))
    }
  }
}

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
    replied: code, "\(what): \(text.isEmpty ? "\(code.rawValue) (status \(status))" : text)")
}

func invalid(_ name: String, mustBe rule: String, _ value: some Any) -> ClearwayError {
  ClearwayError(.invalidArgument, "\(name) must be \(rule): \(name)=\(value)")
}
