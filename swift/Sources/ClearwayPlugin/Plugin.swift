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

/// An open native plugin: a shared library that exports `clearway_plugin_init`
/// (native/include/clearway.h).
///
/// One plugin file runs in every host: Node, the JVM, Swift and C. Its code has all rights of the
/// process. A plugin may be opened several times. Any task may use it.
///
/// ```swift
/// let plugin = try Plugin("libwords.so")
/// let answer = try await plugin.channel("count").send(Array("two words".utf8))
/// try await plugin.close()
/// ```
///
/// The plugin is closed by ``close(within:)``, or when nothing refers to it, its channels and its
/// streams any more.
public final class Plugin: Sendable {
  let core: PluginCore

  /// The path of the library.
  public let path: String

  /// The lines that the plugin logs.
  ///
  /// At most 256 wait for the reader; further ones replace the oldest.
  public let logs: AsyncStream<LogLine>

  private let logFeed: AsyncStream<LogLine>.Continuation

  /// Loads and opens a plugin, on the calling thread, which runs the plugin's init function.
  ///
  /// - Throws: A `ClearwayError` with `addon-missing` if libclearway is missing or of another
  ///   version, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed` or
  ///   `invalid-argument`.
  public init(_ path: String, options: PluginOptions = PluginOptions()) throws(ClearwayError) {
    var limits = try options.native()
    let library = try Library.load(options.library)
    var waiter = clearway_waiter()
    let status = library.c.pointee.waiter_new(&waiter)
    guard status == CLEARWAY_OK else { throw error(status, "waiter") }
    var id = clearway_plugin_id()
    do {
      try Self.open(library, path, &limits, &id)
    } catch {
      _ = library.c.pointee.waiter_free(waiter)
      throw error
    }
    _ = library.c.pointee.waiter_watch(waiter, id)
    self.path = path
    core = PluginCore(library, id, waiter, path: path)
    let (logs, feed) = AsyncStream.makeStream(
      of: LogLine.self, bufferingPolicy: .bufferingNewest(256))
    self.logs = logs
    logFeed = feed
    let printsWarnings = options.printsWarnings
    let isStarted = EventReader.start(core) { line in
      feed.yield(line)
      if printsWarnings, line.level.rawValue >= LogLine.Level.warning.rawValue {
        printToStderr("clearway: \(path): \(line.text)\n")
      }
    }
    // Frees what the reader would have freed.
    guard isStarted else {
      _ = library.c.pointee.plugin_free(id)
      _ = library.c.pointee.waiter_free(waiter)
      throw ClearwayError(.outOfMemory, "the system has no thread left")
    }
  }

  private static func open(
    _ library: Library, _ path: String, _ limits: inout clearway_options,
    _ id: inout clearway_plugin_id
  ) throws(ClearwayError) {
    // The maximum size of an error text of the system's loader or of the plugin's log, in bytes.
    var reason = [CChar](repeating: 0, count: 4096)
    let status = withText(path) { path in
      library.c.pointee.plugin_open(path, &limits, &id, &reason, reason.count)
    }
    guard status == CLEARWAY_OK else { throw error(status, path, text(reason)) }
  }

  deinit {
    logFeed.finish()
    core.forget()
  }

  /// Returns the channel with this name: 1 to 256 bytes of UTF-8.
  ///
  /// Throws `invalid-argument` and `closed`.
  public func channel(_ name: String) throws(ClearwayError) -> PluginChannel {
    guard (1...256).contains(name.utf8.count) else {
      throw invalid("name", mustBe: "1 to 256 bytes", name)
    }
    try core.checkOpen()
    var number = clearway_channel()
    let status = withText(name) { core.c.pointee.channel_find(core.id, $0, &number) }
    guard status == CLEARWAY_OK else { throw core.failure(status, name) }
    return PluginChannel(plugin: self, name: name, number: number)
  }

  /// Allocates native memory that Swift can fill and send without a copy.
  ///
  /// It comes from a pool. With `zeroed` false, it may hold bytes of an earlier user. Throws
  /// `invalid-argument`, `too-large`, `out-of-memory` and `closed`.
  public func allocate(_ size: Int, zeroed: Bool = false) throws(ClearwayError) -> NativeMemory {
    guard size >= 0 else { throw invalid("size", mustBe: "0 or more", size) }
    try core.checkOpen()
    var view = clearway_view()
    let flags = zeroed ? UInt32(CLEARWAY_MEMORY_ZEROED) : 0
    let status = core.c.pointee.memory_allocate(size, flags, &view)
    guard status == CLEARWAY_OK else { throw core.failure(status, "allocate: size=\(size)") }
    return NativeMemory(core.library, owning: view)
  }

  /// Lends memory of Swift to native code without a copy, even beyond one call.
  ///
  /// The result is Swift's own reference. The buffer stays alive until native code has released all
  /// of its references; ``HostBuffer/returned(isolation:)`` waits for that. Throws `out-of-memory`
  /// and `closed`.
  public func lend(_ buffer: HostBuffer) throws(ClearwayError) -> NativeMemory {
    try core.lend(buffer)
  }

  /// Handles the messages that the plugin itself sends on a channel, each in a task of its own.
  ///
  /// The plugin gets the returned bytes, or null for nil. If `body` throws, it gets the error
  /// `failed`. The closure must not keep the plugin. Throws `invalid-argument` if the channel has a
  /// handler, and `closed`.
  @discardableResult
  public func handle(
    _ channel: String,
    _ body: @escaping @Sendable (consuming PluginMessage) async throws -> [UInt8]?
  ) throws(ClearwayError) -> PluginHandler {
    let handler = PluginHandler(core, channel, body)
    try core.handle(channel, handler)
    return handler
  }

  /// Closes the plugin, and waits for running handlers.
  ///
  /// Calls in progress fail with `closed`, streams end, and handlers of the plugin's messages are
  /// cancelled. Afterwards, the plugin's code runs no more for this object. Memory that is in use
  /// stays valid. A second call does nothing.
  ///
  /// - Parameter limit: Maximum time to wait for handlers: 0 to 1,000,000 s.
  /// - Throws: A `ClearwayError` with `cancelled` if a handler does not end in time; the call may
  ///   then be repeated.
  public func close(
    within limit: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation
  ) async throws {
    guard limit >= .zero, limit <= .seconds(1_000_000) else {
      throw invalid("limit", mustBe: "0 s to 1000000 s", limit)
    }
    let (seconds, attoseconds) = limit.components
    let timeoutMs = UInt32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    // The native function blocks, so it runs on a thread of its own.
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let isStarted = startThread(name: "clearway-close") { [core] in
        continuation.resume(with: Result { try core.close(timeoutMs: timeoutMs) })
      }
      if !isStarted {
        continuation.resume(throwing: ClearwayError(.outOfMemory, "the system has no thread left"))
      }
    }
    await core.untilEnded()
    logFeed.finish()
  }

  /// Returns the plugin's counters.
  ///
  /// Throws `closed`.
  public func stats() throws(ClearwayError) -> PluginStats {
    try core.checkOpen()
    var stats = clearway_stats()
    stats.size = MemoryLayout<clearway_stats>.size
    let status = core.c.pointee.plugin_stats(core.id, &stats)
    guard status == CLEARWAY_OK else { throw core.failure(status, "stats") }
    return PluginStats(stats)
  }
}

/// A handler of a plugin's messages.
public final class PluginHandler: Sendable {
  private let core: PluginCore
  private let channel: String
  let run: @Sendable (consuming PluginMessage) async throws -> [UInt8]?

  init(
    _ core: PluginCore, _ channel: String,
    _ run: @escaping @Sendable (consuming PluginMessage) async throws -> [UInt8]?
  ) {
    self.core = core
    self.channel = channel
    self.run = run
  }

  /// Removes the handler.
  ///
  /// Messages that it already handles go on.
  public func remove() { core.unhandle(channel, self) }
}

private func printToStderr(_ line: String) {
  var line = line
  line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
}

/// The counters of a plugin since it was opened.
///
/// Memory is counted for the whole process.
public struct PluginStats: Sendable, Hashable {
  /// Messages sent to the plugin and by the plugin.
  public let messages: Int
  /// Events that Swift has drained.
  public let events: Int
  /// Events that were dropped.
  public let eventsDropped: Int
  /// Messages, answers and events whose bytes were copied.
  public let copies: Int
  /// Bytes that were copied.
  public let copiedBytes: Int
  /// Calls in flight now.
  public let calls: Int
  /// Streams that are open now.
  public let streams: Int
  /// Allocated memories in use.
  public let memories: Int
  /// Bytes of these memories.
  public let memoryBytes: Int

  init(_ stats: clearway_stats) {
    messages = Int(clamping: stats.messages)
    events = Int(clamping: stats.events)
    eventsDropped = Int(clamping: stats.events_dropped)
    copies = Int(clamping: stats.copies)
    copiedBytes = Int(clamping: stats.copied_bytes)
    calls = Int(clamping: stats.calls)
    streams = Int(clamping: stats.streams)
    memories = Int(clamping: stats.memories)
    memoryBytes = Int(clamping: stats.memory_bytes)
  }
}

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
