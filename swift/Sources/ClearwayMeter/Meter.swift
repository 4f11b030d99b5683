// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Dispatch

/// The thread that a meter watches, named by a function that runs tasks on it, in order.
public struct MeterTarget: Sendable {
  let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Watches whatever runs the tasks that `submit` gets.
  ///
  /// The function must return soon. If it loses a task, the meter sees a stall without end.
  public init(submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.submit = submit
  }

  /// The main queue.
  public static var mainQueue: MeterTarget { queue(.main) }

  /// The main actor.
  ///
  /// A beat is a `Task` on it, so the tasks that wait for the actor count, too.
  public static var mainActor: MeterTarget { MeterTarget { beat in Task { @MainActor in beat() } } }

  /// A serial dispatch queue.
  public static func queue(_ queue: DispatchQueue) -> MeterTarget {
    MeterTarget { queue.async(execute: $0) }
  }
}

/// A value, and the report of the run that made it.
public struct Measurement<Value> {
  public let value: Value
  public let report: StallReport
}

extension Measurement: Sendable where Value: Sendable {}

/// Measures how long the main actor, the main queue or another serial queue could not answer, and
/// names the cause.
///
/// `docs/meter.md` defines stalls and all figures. They are the same in every language. The meter
/// does not depend on the rest of Clearway.
public enum Meter {
  private static let marks = Marks(nowMs: Watcher.nowMs)

  /// Watches a thread until the returned watch is closed or has no references any more.
  ///
  /// Starts a thread that submits a task to the target 500 times a second by default.
  ///
  /// - Throws: A ``MeterError`` for an option out of range.
  public static func watch(
    _ target: MeterTarget = .mainQueue, options: MeterOptions = MeterOptions()
  ) throws
    -> StallWatch
  {
    try options.validate()
    let (stalls, feed) = AsyncStream.makeStream(
      of: Stall.self, bufferingPolicy: .bufferingNewest(1024))
    let watcher = watcher(target, options, beatMs: 2) { feed.yield($0) }
    guard watcher.start() else { throw MeterError.noThread }
    return StallWatch(watcher, stalls, feed)
  }

  /// Runs `operation` once on the main actor and reports the stalls.
  ///
  /// The time that it does not suspend is one stall.
  ///
  /// - Throws: The error of the operation; a ``MeterError`` for an option out of range.
  public static func measure<Value: Sendable>(
    options: MeterOptions = MeterOptions(), _ operation: @MainActor @Sendable () throws -> Value
  ) async throws -> Measurement<Value> {
    try await measured(options) { @MainActor monitor in
      let startMs = Watcher.nowMs()
      defer { monitor.blocked(startMs, Watcher.nowMs(), options.label ?? "the measured function") }
      return try operation()
    }
  }

  /// Runs an async `operation` once on the main actor and reports the main actor's stalls until it
  /// returns.
  ///
  /// Stalls of unrelated tasks count, too.
  ///
  /// - Throws: The error of the operation; a ``MeterError`` for an option out of range.
  public static func measure<Value: Sendable>(
    options: MeterOptions = MeterOptions(),
    _ operation: @MainActor @Sendable () async throws -> Value
  ) async throws -> Measurement<Value> {
    try await measured(options) { @MainActor _ in try await operation() }
  }

  private static func measured<Value: Sendable>(
    _ options: MeterOptions,
    _ operation: @MainActor @Sendable (HeartbeatMonitor) async throws -> Value
  ) async throws -> Measurement<Value> {
    try options.validate()
    let watcher = watcher(.mainActor, options, beatMs: 1) { _ in }
    guard watcher.start() else { throw MeterError.noThread }
    defer { watcher.stop(atMs: Watcher.nowMs()) }
    await watcher.ready()
    let (value, endMs) = try await run(operation, watcher.monitor)
    watcher.stop(atMs: endMs)
    return Measurement(value: value, report: watcher.monitor.report(endMs))
  }

  @MainActor
  private static func run<Value: Sendable>(
    _ operation: @MainActor @Sendable (HeartbeatMonitor) async throws -> Value,
    _ monitor: HeartbeatMonitor
  ) async throws -> (Value, Double) {
    monitor.begin(Watcher.nowMs(), startedAt: wallTimeText())
    let value = try await operation(monitor)
    return (value, Watcher.nowMs())
  }

  /// Opens a label for the calling thread.
  ///
  /// The stalls of that thread list the labels that were open.
  ///
  /// Open and close it on one thread, as code of the main actor does.
  public static func mark(_ label: String) -> Mark { Mark(marks, label) }

  /// Runs `body` while a label is open for the calling thread.
  public static func mark<Value: ~Copyable, Failure: Error>(
    _ label: String, _ body: () throws(Failure) -> Value
  )
    throws(Failure) -> Value
  {
    let mark = mark(label)
    let value = try body()
    mark.end()
    return value
  }

  private static func watcher(
    _ target: MeterTarget, _ options: MeterOptions, beatMs: Double,
    onStall: @escaping @Sendable (Stall) -> Void
  ) -> Watcher {
    Watcher(
      HeartbeatMonitor(
        options: options, beatMs: options.beatMs ?? beatMs, marks: marks, nowMs: Watcher.nowMs,
        submit: target.submit),
      onStall: onStall)
  }
}

/// A running watch of a thread.
///
/// Any thread may use it.
public final class StallWatch: Sendable {
  private let watcher: Watcher
  private let feed: AsyncStream<Stall>.Continuation

  /// The stalls, each 0.1 s after its end.
  ///
  /// Ends when the watch is closed. At most 1024 wait for the reader; further ones replace the
  /// oldest. The report has all of them.
  public let stalls: AsyncStream<Stall>

  init(_ watcher: Watcher, _ stalls: AsyncStream<Stall>, _ feed: AsyncStream<Stall>.Continuation) {
    self.watcher = watcher
    self.stalls = stalls
    self.feed = feed
  }

  deinit { close() }

  /// Waits until the first beat was answered, or the watch was closed.
  public func ready() async { await watcher.ready() }

  /// The report up to now, or up to the watch's end.
  ///
  /// A stall that still goes on is not part of it.
  public var report: StallReport { watcher.monitor.report(Watcher.nowMs()) }

  /// Ends the watch.
  ///
  /// A stall that still goes on counts up to now. A second call does nothing.
  public func close() {
    watcher.stop(atMs: Watcher.nowMs())
    feed.finish()
  }
}

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
