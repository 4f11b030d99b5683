// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel

/// The options of a plugin.
public struct PluginOptions: Sendable {
  /// Maximum number of threads in the plugin's native pool: 1 to 1024.
  ///
  /// Default: the number of processors, at least 2.
  public var threads: Int?
  /// Maximum number of calls in progress, and of the plugin's own messages: 1 to 1,000,000.
  ///
  /// Default: 16384.
  public var callsMax: Int?
  /// Maximum number of listeners at the same time: 1 to 65536.
  ///
  /// Default: 1024.
  public var streamsMax: Int?
  /// The file of libclearway.
  ///
  /// Only the first plugin of a process loads it. Default: the environment variable
  /// CLEARWAY_LIBRARY, else what the system's loader finds.
  public var library: String?
  /// Whether warnings and errors that the plugin logs are printed to stderr.
  ///
  /// Default: true.
  public var printsWarnings: Bool

  /// Makes options.
  public init(
    threads: Int? = nil, callsMax: Int? = nil, streamsMax: Int? = nil, library: String? = nil,
    printsWarnings: Bool = true
  ) {
    self.threads = threads
    self.callsMax = callsMax
    self.streamsMax = streamsMax
    self.library = library
    self.printsWarnings = printsWarnings
  }

  func native() throws(ClearwayError) -> clearway_options {
    clearway_options(
      size: MemoryLayout<clearway_options>.size, threads: try within("threads", threads, 1024),
      calls_max: try within("callsMax", callsMax, 1_000_000),
      streams_max: try within("streamsMax", streamsMax, 65_536), reserved: 0)
  }

  private func within(_ name: String, _ value: Int?, _ most: Int) throws(ClearwayError) -> UInt32 {
    guard let value else { return 0 }
    guard (1...most).contains(value) else { throw invalid(name, mustBe: "1 to \(most)", value) }
    return UInt32(value)
  }
}

/// A line that a plugin logs.
public struct LogLine: Sendable, Hashable {
  /// How important a line is.
  public enum Level: Int, Sendable, CaseIterable {
    /// A detail for debugging.
    case debug
    /// Useful information.
    case info
    /// Something is wrong, and the plugin continues.
    case warning
    /// Something failed.
    case error
  }

  /// How important the line is.
  public let level: Level
  /// The text.
  public let text: String
}

/// The options of a listener.
public struct PluginListenOptions: Sendable {
  /// The arguments for the source.
  ///
  /// Nil is the null message.
  public var arguments: [UInt8]?
  /// Number of events that may wait on the native side, and again on Swift's side: 1 to 65536.
  ///
  /// Default: 64.
  public var items: Int
  /// Number of bytes that may wait on the native side: 1 or more.
  ///
  /// A single event may be larger. Default: 64 MiB.
  public var bytes: Int
  /// The policy for a full queue.
  ///
  /// Default: `wait`.
  public var whenFull: WhenFull

  /// Makes options.
  public init(
    arguments: [UInt8]? = nil, items: Int = 64, bytes: Int = 64 << 20, whenFull: WhenFull = .wait
  ) {
    self.arguments = arguments
    self.items = items
    self.bytes = bytes
    self.whenFull = whenFull
  }

  /// Only the newest event waits: a new event replaces it.
  ///
  /// For video frames and sensors.
  public static func latest(arguments: [UInt8]? = nil) -> PluginListenOptions {
    PluginListenOptions(arguments: arguments, items: 1, whenFull: .dropOldest)
  }

  func validate() throws(ClearwayError) {
    guard (1...65_536).contains(items) else { throw invalid("items", mustBe: "1 to 65536", items) }
    guard bytes >= 1 else { throw invalid("bytes", mustBe: "1 or more", bytes) }
  }

  private var policy: UInt32 {
    switch whenFull {
    case .wait: UInt32(CLEARWAY_WHEN_FULL_WAIT)
    case .fail: UInt32(CLEARWAY_WHEN_FULL_FAIL)
    case .dropOldest: UInt32(CLEARWAY_WHEN_FULL_DROP_OLDEST)
    case .dropNewest: UInt32(CLEARWAY_WHEN_FULL_DROP_NEWEST)
    }
  }

  var window: clearway_window {
    clearway_window(
      size: MemoryLayout<clearway_window>.size, items: UInt32(items), when_full: policy,
      bytes: UInt64(bytes), credit: UInt64(items))
  }
}
