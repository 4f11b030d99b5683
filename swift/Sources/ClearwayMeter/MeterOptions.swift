// SPDX-License-Identifier: MIT OR Apache-2.0

/// The meter cannot start.
public struct MeterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A reason from the closed list of `spec/errors.md`, the same in every language.
  public enum Code: String, Sendable, CaseIterable {
    /// An option is out of its range.
    ///
    /// The message names it and its value.
    case invalidArgument = "invalid-argument"
    /// The system has no thread left.
    case workerStartFailed = "worker-start-failed"
  }

  public let code: Code
  public let message: String

  static func invalid(_ message: String) -> MeterError {
    MeterError(code: .invalidArgument, message: message)
  }

  static var noThread: MeterError {
    MeterError(code: .workerStartFailed, message: "the system has no thread left")
  }

  public var description: String { "\(code.rawValue): \(message)" }
}

/// The options of ``Meter``.
public struct MeterOptions: Sendable {
  /// The frame rate for hitches and estimated frames: over 0, at most 1000.
  ///
  /// Default: 60.
  public var hz: Double
  /// Length of the shortest stall that is recorded, in ms: 1 or more.
  ///
  /// Default: 4, a quarter of a frame at 60 Hz.
  public var floorMs: Double
  /// The name of the run.
  public var label: String?
  /// Time between beats, in ms: 1 to 1000.
  ///
  /// Default: 2 for a watch, 1 for a measurement.
  public var beatMs: Double?
  /// Maximum number of stalls that are kept: 1 or more.
  ///
  /// Beyond that, the oldest are dropped and counted. Default: 10,000.
  public var stallsMax: Int

  public init(
    hz: Double = 60, floorMs: Double = 4, label: String? = nil, beatMs: Double? = nil,
    stallsMax: Int = 10_000
  ) {
    self.hz = hz
    self.floorMs = floorMs
    self.label = label
    self.beatMs = beatMs
    self.stallsMax = stallsMax
  }

  func validate() throws {
    guard hz > 0, hz <= 1000 else {
      throw MeterError.invalid("hz must be over 0, at most 1000: hz=\(hz)")
    }
    guard floorMs >= 1, floorMs.isFinite else {
      throw MeterError.invalid("floorMs must be 1 or more: floorMs=\(floorMs)")
    }
    if let beatMs, !(1...1000).contains(beatMs) {
      throw MeterError.invalid("beatMs must be 1 to 1000: beatMs=\(beatMs)")
    }
    guard stallsMax >= 1 else {
      throw MeterError.invalid("stallsMax must be 1 or more: stallsMax=\(stallsMax)")
    }
  }
}
