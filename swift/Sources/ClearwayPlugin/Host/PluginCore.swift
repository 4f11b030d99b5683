// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel
import ClearwayThreads

/// One open plugin: makes the calls and owns their state.
///
/// ```
///  Swift's tasks                          libclearway                       the plugin's threads
///  call ──────────────────────────────── handler runs here
///  send, listen ───────────────────────► pool, serial queues ────────────► handler, source
///  continuations, streams ◄── EventReader ◄── one wake, then all items ◄── answers, events
/// ```
final class PluginCore: Sendable {
  /// A call that waits for its answer.
  ///
  /// The lock of the core protects its fields.
  final class Pending: @unchecked Sendable {
    let channel: String
    let result = AnswerBox()
    var continuation: CheckedContinuation<Void, any Error>?
    var call: UInt64 = 0
    var isCancelled = false

    init(_ channel: String) { self.channel = channel }
  }

  private struct State: @unchecked Sendable {
    var nextTag: UInt64 = 0
    var waiting: [UInt64: Pending] = [:]
    var streams: [UInt64: EventBuffer] = [:]
    var handlers: [ChannelName: PluginHandler] = [:]
    var answering: [UInt64: Task<Void, Never>] = [:]
    var loans: [UInt64: HostBuffer] = [:]
    var isClosing = false
    var isClosed = false
    var isForgotten = false
    var hasEnded = false
    var ends: [CheckedContinuation<Void, Never>] = []
  }

  let library: Library
  let id: clearway_plugin_id
  let waiter: clearway_waiter
  let path: String
  private let state = Locked(State())

  var c: UnsafePointer<cclearway> { library.c }

  init(_ library: Library, _ id: clearway_plugin_id, _ waiter: clearway_waiter, path: String) {
    self.library = library
    self.id = id
    self.waiter = waiter
    self.path = path
  }

  // MARK: Errors

  var closedError: ClearwayError { ClearwayError(.closed, "the plugin is closed: \(path)") }

  /// Returns the error for a status.
  ///
  /// A stale handle of a closed plugin, and a handler that closing has removed, are `closed`.
  func failure(_ status: clearway_status, _ what: String, _ text: String = "") -> ClearwayError {
    let (isClosing, isClosed) = state.with { ($0.isClosing, $0.isClosed) }
    let isGone = isClosed && status == CLEARWAY_STALE || isClosing && status == CLEARWAY_NO_HANDLER
    return isGone ? closedError : error(status, what, text)
  }

  func checkOpen() throws(ClearwayError) {
    if state.with({ $0.isClosed }) { throw closedError }
  }

  // MARK: Calls

  /// Sends a message and waits for its answer.
  ///
  /// `send` gets the tag, and the event for an answer that comes at once.
  func send(
    _ channel: String, isolation: isolated (any Actor)? = #isolation,
    _ send: (UInt64, UnsafeMutablePointer<clearway_event>) -> clearway_status
  ) async throws -> PluginMessage {
    try Task.checkCancellation()
    let pending = Pending(channel)
    let tag = state.with { state in
      state.nextTag += 1
      return state.nextTag
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        begin(pending, tag, continuation, send)
      }
    } onCancel: {
      giveUp(pending, tag)
    }
    guard let answer = state.with({ _ in pending.result.take() }) else { throw closedError }
    return answer
  }

  private func begin(
    _ pending: Pending, _ tag: UInt64, _ continuation: CheckedContinuation<Void, any Error>,
    _ send: (UInt64, UnsafeMutablePointer<clearway_event>) -> clearway_status
  ) {
    let isCancelled = state.with { state in
      if !pending.isCancelled {
        pending.continuation = continuation
        state.waiting[tag] = pending
      }
      return pending.isCancelled
    }
    if isCancelled { return continuation.resume(throwing: CancellationError()) }
    var event = clearway_event()
    let status = send(tag, &event)
    guard status == CLEARWAY_PENDING else {
      if status == CLEARWAY_OK { return settle(tag, event) }
      return fail(tag, failure(status, pending.channel))
    }
    // The answer may have arrived, and the task may have been cancelled, before the call's number
    // was known.
    let (isGivenUp, isClosed) = state.with { state in
      pending.call = event.handle
      return (pending.isCancelled, state.hasEnded)
    }
    if isGivenUp { _ = c.pointee.call_give_up(id, event.handle) }
    // Closing fails all calls that wait, but may miss one that starts at the same time.
    if isClosed { fail(tag, closedError) }
  }

  private func giveUp(_ pending: Pending, _ tag: UInt64) {
    let (continuation, call) = state.with { state in
      pending.isCancelled = true
      state.waiting[tag] = nil
      defer { pending.continuation = nil }
      return (pending.continuation, pending.call)
    }
    if call != 0 { _ = c.pointee.call_give_up(id, call) }
    continuation?.resume(throwing: CancellationError())
  }

  private func take(_ tag: UInt64) -> (Pending, CheckedContinuation<Void, any Error>?)? {
    state.with { state in
      guard let pending = state.waiting.removeValue(forKey: tag) else { return nil }
      defer { pending.continuation = nil }
      return (pending, pending.continuation)
    }
  }

  private func fail(_ tag: UInt64, _ error: ClearwayError) {
    take(tag)?.1?.resume(throwing: error)
  }

  /// Settles a call with its answer, and takes over the event.
  func settle(_ tag: UInt64, _ event: clearway_event) {
    let answer = PluginMessage(library, owning: event)
    guard let (pending, continuation) = take(tag) else { return }
    guard event.status == CLEARWAY_OK else {
      continuation?.resume(throwing: failure(event.status, pending.channel, text(event.text)))
      return
    }
    // The lock is for the thread sanitizer. The continuation alone orders `store` before `take`, but
    // the sanitizer does not see that, because Swift's runtime is built without it.
    state.lock.lock()
    pending.result.store(answer)
    state.lock.unlock()
    continuation?.resume()
  }

  // MARK: Streams

  func listen(_ channel: String, _ options: PluginListenOptions) throws(ClearwayError)
    -> EventBuffer
  {
    let buffer = EventBuffer(self, channel, options)
    let tag = state.with { state in
      state.nextTag += 1
      state.streams[state.nextTag] = buffer
      return state.nextTag
    }
    var window = options.window
    var stream = clearway_stream()
    let status = withText(channel) { name in
      withContent(options.arguments) {
        c.pointee.plugin_listen(id, name, $0, &window, tag, &stream)
      }
    }
    guard status == CLEARWAY_OK else {
      state.with { $0.streams[tag] = nil }
      throw failure(status, channel)
    }
    buffer.opened(stream, tag)
    if state.with({ $0.hasEnded }) { ended(tag, closedError, dropped: 0) }
    return buffer
  }

  func stream(_ tag: UInt64) -> EventBuffer? { state.with { $0.streams[tag] } }

  func ended(_ tag: UInt64, _ error: ClearwayError?, dropped: Int) {
    state.with { $0.streams.removeValue(forKey: tag) }?.ended(error, dropped: dropped)
  }

  func cancel(_ tag: UInt64, _ stream: clearway_stream) {
    state.with { $0.streams[tag] = nil }
    _ = c.pointee.stream_cancel(id, stream)
  }

  // MARK: Memory

  func lend(_ buffer: HostBuffer) throws(ClearwayError) -> NativeMemory {
    try checkOpen()
    buffer.lent()
    let tag = state.with { state in
      state.nextTag += 1
      state.loans[state.nextTag] = buffer
      return state.nextTag
    }
    var view = clearway_view()
    let status = c.pointee.waiter_lend(
      waiter, buffer.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.size,
      UInt32(CLEARWAY_MEMORY_SHARED), tag, &view)
    guard status == CLEARWAY_OK else {
      returned(tag)
      throw failure(status, "lend")
    }
    return NativeMemory(library, owning: view)
  }

  func returned(_ tag: UInt64) { state.with { $0.loans.removeValue(forKey: tag) }?.cameBack() }

  // MARK: Handlers of the plugin's messages

  func handle(_ channel: String, _ handler: PluginHandler) throws(ClearwayError) {
    try checkOpen()
    let isFree = state.with { state in
      let name = ChannelName(channel)
      guard state.handlers[name] == nil else { return false }
      state.handlers[name] = handler
      return true
    }
    if !isFree { throw invalid("channel", mustBe: "one without a handler", channel) }
  }

  func unhandle(_ channel: String, _ handler: PluginHandler) {
    // The handler outlives the lock, because its closure may run code when it is destroyed.
    let name = ChannelName(channel)
    _ = state.with { state in
      state.handlers[name] === handler ? state.handlers.removeValue(forKey: name) : nil
    }
  }

  func handler(_ channel: String) -> PluginHandler? {
    state.with { $0.handlers[ChannelName(channel)] }
  }

  /// Runs a handler in a task of its own, which the plugin's end cancels.
  func answer(_ run: @escaping @Sendable () async -> Void) {
    state.with { state in
      state.nextTag += 1
      let tag = state.nextTag
      state.answering[tag] = Task { [self] in
        await run()
        self.state.with { $0.answering[tag] = nil }
      }
    }
  }

  // MARK: Closing

  var isClosed: Bool { state.with { $0.isClosed } }
  var isForgotten: Bool { state.with { $0.isForgotten } }
  var hasLoans: Bool { state.with { !$0.loans.isEmpty } }
  var hasEnded: Bool { state.with { $0.hasEnded } }

  /// Closes the plugin on the calling thread, which waits for running handlers.
  func close(timeoutMs: UInt32) throws(ClearwayError) {
    if isClosed { return }
    state.with { $0.isClosing = true }
    let status = c.pointee.plugin_close(id, timeoutMs)
    if status == CLEARWAY_TIMEOUT { throw error(status, path, "a handler does not end") }
    if status == CLEARWAY_INVALID_ARGUMENT {
      throw error(status, path, "a callback of a plugin cannot close it")
    }
    state.with { $0.isClosed = true }
    _ = c.pointee.waiter_wake(waiter)
  }

  /// Lets the reader close the plugin, because nothing refers to it any more.
  func forget() {
    state.with { state in
      state.isClosing = true
      state.isForgotten = true
    }
    _ = c.pointee.waiter_wake(waiter)
  }

  func markClosed() { state.with { $0.isClosed = true } }

  /// Waits until the reader has delivered everything.
  func untilEnded() async {
    await withCheckedContinuation { continuation in
      let isOver = state.with { state in
        if !state.hasEnded { state.ends.append(continuation) }
        return state.hasEnded
      }
      if isOver { continuation.resume() }
    }
  }

  /// Fails what still waits, after the plugin's last event.
  ///
  /// Frees the plugin.
  func end() {
    let old = state.with { state in
      let old = state
      state.hasEnded = true
      state.waiting = [:]
      state.streams = [:]
      state.handlers = [:]
      state.answering = [:]
      state.ends = []
      return old
    }
    for pending in old.waiting.values {
      let continuation = state.with { _ in
        defer { pending.continuation = nil }
        return pending.continuation
      }
      continuation?.resume(throwing: closedError)
    }
    for stream in old.streams.values { stream.ended(closedError, dropped: 0) }
    for handler in old.answering.values { handler.cancel() }
    _ = c.pointee.plugin_free(id)
    for continuation in old.ends { continuation.resume() }
  }
}

/// Holds the answer of one call while it moves to its task.
final class AnswerBox: @unchecked Sendable {
  private var message: PluginMessage?

  func store(_ message: consuming PluginMessage) { self.message = consume message }

  func take() -> PluginMessage? { message.take() }
}

/// Lends bytes as a content during `body`.
///
/// Nil is the null content.
func withContent<R>(_ bytes: [UInt8]?, _ body: (UnsafePointer<clearway_content>?) -> R) -> R {
  guard let bytes else { return body(nil) }
  return bytes.withUnsafeBufferPointer { bytes in
    withContent(UnsafeRawBufferPointer(bytes), nil, body)
  }
}

/// A byte to point at for an empty message, because a null pointer means the null message.
nonisolated(unsafe) let noBytes: UnsafePointer<UInt8> = {
  let byte = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
  byte.initialize(to: 0)
  return UnsafePointer(byte)
}()

/// Lends bytes and an attached memory as a content during `body`.
func withContent<R>(
  _ bytes: UnsafeRawBufferPointer?, _ attachment: clearway_memory?,
  _ body: (UnsafePointer<clearway_content>?) -> R
) -> R {
  var content = clearway_content()
  if let bytes {
    content.data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? noBytes
    content.size = bytes.count
  }
  guard var attachment else { return body(&content) }
  return withUnsafePointer(to: &attachment) { attachment in
    content.attachments = attachment
    content.attachments_count = 1
    return body(&content)
  }
}
