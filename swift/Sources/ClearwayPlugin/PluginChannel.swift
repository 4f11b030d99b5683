// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel

/// A channel of a plugin.
///
/// Make it once and use it for many calls. Any task may use it.
///
/// `call` runs a direct handler on the calling thread. `send` reaches every handler, on the
/// plugin's pool or in a queue, and suspends until the answer. `listen` opens a stream of events.
public struct PluginChannel: Sendable {
  /// The plugin.
  public let plugin: Plugin
  /// The channel's name.
  public let name: String
  let number: clearway_channel

  private var core: PluginCore { plugin.core }

  // MARK: Direct calls

  /// Runs the handler on the calling thread, and lends its answer during `body`.
  ///
  /// Allocates nothing for small answers.
  ///
  /// The handler sees the caller's bytes, without a copy. Use it for handlers of microseconds.
  ///
  /// - Parameters:
  ///   - bytes: The message. Nil is the null message.
  ///   - body: Gets the answer's bytes, or nil for the null answer.
  /// - Throws: The error of `body`; a `ClearwayError` with the handler's error, `no-handler`,
  ///   `closed`, or `not-direct` if the handler runs on another thread or answers later.
  public func call<R: ~Copyable>(
    _ bytes: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    try withAnswer(bytes, nil, nil) { answer in try body(answer) }
  }

  /// Runs the handler with a memory as the message, without a copy, and lends its answer during
  /// `body`.
  public func call<R: ~Copyable>(
    _ memory: borrowing NativeMemory, _ body: (UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    let whole = memory.withUnsafeBytes { $0 }
    return try withAnswer(nil, memory.handle, nil) { answer in
      // The handler has sent the caller's own memory back.
      try body(answer.map { $0.baseAddress == nil ? whole : $0 })
    }
  }

  /// Runs the handler with bytes and an attached memory, and lends its answer during `body`.
  public func call<R: ~Copyable>(
    _ bytes: UnsafeRawBufferPointer?, attaching memory: borrowing NativeMemory,
    _ body: (UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    try withAnswer(bytes, nil, memory.handle) { answer in try body(answer) }
  }

  /// Runs the handler on the calling thread and returns a copy of its answer.
  ///
  /// Nil is the null message.
  public func call(_ bytes: [UInt8]? = nil) throws(ClearwayError) -> [UInt8]? {
    try callForMessage(bytes).bytes
  }

  /// Runs the handler on the calling thread and returns its answer, which owns its native memory.
  public func callForMessage(_ bytes: [UInt8]? = nil) throws(ClearwayError) -> PluginMessage {
    var event = clearway_event()
    let status =
      bytes?.withUnsafeBytes { direct($0, nil, nil, into: nil, room: 0, &event) }
      ?? direct(nil, nil, nil, into: nil, room: 0, &event)
    try check(status, event)
    return PluginMessage(core.library, owning: event)
  }

  /// Runs the handler on the calling thread with a memory as the message, and returns its answer.
  public func callForMessage(_ memory: borrowing NativeMemory) throws(ClearwayError)
    -> PluginMessage
  {
    var event = clearway_event()
    try check(direct(nil, memory.handle, nil, into: nil, room: 0, &event), event)
    guard event.kind == UInt32(CLEARWAY_EVENT_BACK) else {
      return PluginMessage(core.library, owning: event)
    }
    return PluginMessage(
      core.library, owning: try NativeMemory.retained(core.library, memory.handle))
  }

  /// Size of the space for small answers, in bytes.
  ///
  /// Larger ones are in memory of libclearway.
  private static let room = 256

  private func withAnswer<R: ~Copyable>(
    _ bytes: UnsafeRawBufferPointer?, _ memory: clearway_memory?, _ attachment: clearway_memory?,
    _ body: (UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    // A tuple lives on the stack. `withUnsafeTemporaryAllocation` does not return values that
    // cannot be copied.
    var space: Space = (
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    )
    return try withUnsafeMutableBytes(of: &space) { space in
      let into = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var event = clearway_event()
      let status = direct(bytes, memory, attachment, into: into, room: Self.room, &event)
      defer { if event.held != 0 { _ = core.c.pointee.event_release(&event) } }
      try refuse(status, event)
      if event.kind == UInt32(CLEARWAY_EVENT_NONE) { return try body(nil) }
      if event.kind == UInt32(CLEARWAY_EVENT_BACK) {
        return try body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      if event.status != CLEARWAY_OK { throw core.failure(event.status, name, text(event.text)) }
      if event.content.data == nil, event.content.memory.handle == 0 { return try body(nil) }
      return try body(UnsafeRawBufferPointer(start: event.content.data, count: event.content.size))
    }
  }

  // 256 bytes.
  private typealias Space = (
    UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
    UInt64, UInt64,
    UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
    UInt64, UInt64,
    UInt64, UInt64, UInt64, UInt64
  )

  private func direct(
    _ bytes: UnsafeRawBufferPointer?, _ memory: clearway_memory?, _ attachment: clearway_memory?,
    into: UnsafeMutablePointer<UInt8>?, room: Int, _ event: inout clearway_event
  ) -> clearway_status {
    let data = bytes.map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? noBytes }
    let call = core.c.pointee.channel_call
    let size = bytes?.count ?? 0
    let memory = memory ?? clearway_memory()
    guard var attachment else {
      return call(number, data, size, memory, nil, 0, into, room, &event)
    }
    return call(number, data, size, memory, &attachment, 1, into, room, &event)
  }

  /// Throws the error of a call that libclearway has refused.
  private func refuse(_ status: clearway_status, _ event: clearway_event) throws(ClearwayError) {
    if status == CLEARWAY_OK { return }
    guard status == CLEARWAY_PENDING else { throw core.failure(status, name) }
    // Its answer arrives with tag 0, which no call has.
    _ = core.c.pointee.call_give_up(core.id, event.handle)
    throw ClearwayError(
      .notDirect, "\(name): its handler runs elsewhere, or answers later: use send()")
  }

  /// Throws the error of a call or of its answer.
  private func check(_ status: clearway_status, _ event: clearway_event) throws(ClearwayError) {
    try refuse(status, event)
    guard event.kind == UInt32(CLEARWAY_EVENT_ANSWER), event.status != CLEARWAY_OK else { return }
    let failure = core.failure(event.status, name, text(event.text))
    PluginMessage(core.library, owning: event).release()
    throw failure
  }

  // MARK: Calls on the pool and in queues

  /// Sends a message, and waits for the answer without blocking a thread.
  ///
  /// Nil is the null message.
  ///
  /// A direct handler runs on the calling thread. The bytes are copied if the handler runs
  /// elsewhere. If the task is cancelled, the call throws `CancellationError` at once, and the
  /// plugin is notified.
  ///
  /// - Throws: A `ClearwayError` with the handler's error, `no-handler`, `full` or `closed`;
  ///   `CancellationError`.
  public func send(_ bytes: [UInt8]? = nil, isolation: isolated (any Actor)? = #isolation)
    async throws -> PluginMessage
  {
    try await core.send(name) { tag, event in
      withText(name) { name in
        withContent(bytes) { core.c.pointee.plugin_send(core.id, name, $0, tag, event) }
      }
    }
  }

  /// Sends a memory as the message, without a copy, and waits for the answer.
  public func send(
    _ memory: borrowing NativeMemory, isolation: isolated (any Actor)? = #isolation
  ) async throws -> PluginMessage {
    let handle = memory.handle
    return try await core.send(name) { tag, event in
      var content = clearway_content()
      content.memory = handle
      return withText(name) { core.c.pointee.plugin_send(core.id, $0, &content, tag, event) }
    }
  }

  /// Sends bytes with an attached memory, which is not copied, and waits for the answer.
  public func send(
    _ bytes: [UInt8]?, attaching memory: borrowing NativeMemory,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> PluginMessage {
    let handle = memory.handle
    return try await core.send(name) { tag, event in
      withText(name) { name in
        let send = { (content: UnsafePointer<clearway_content>?) in
          core.c.pointee.plugin_send(core.id, name, content, tag, event)
        }
        guard let bytes else { return withContent(nil, handle, send) }
        return bytes.withUnsafeBytes { withContent($0, handle, send) }
      }
    }
  }

  // MARK: Events

  /// Listens to the channel's events, with credit.
  ///
  /// If the source refuses the listener, the stream throws the source's error. Throws `no-handler`
  /// if the plugin has no source for the channel, `invalid-argument`, `full` and `closed`.
  public func listen(_ options: PluginListenOptions = PluginListenOptions()) throws(ClearwayError)
    -> PluginEvents
  {
    try options.validate()
    try core.checkOpen()
    return PluginEvents(plugin, try core.listen(name, options))
  }
}

/// A plugin's stream of events, in order.
///
/// The source emits as many events as the reader has credit for, and then waits, or drops events,
/// as the options say. The stream is cancelled by ``cancel()``, or when the stream and its
/// iterators have no references any more. If several tasks read, each event reaches one of them.
public struct PluginEvents: AsyncSequence, Sendable {
  public typealias Element = PluginEvent
  public typealias Failure = any Error

  private let reader: Reader

  init(_ plugin: Plugin, _ buffer: EventBuffer) { reader = Reader(plugin, buffer) }

  /// The number of events that were dropped so far.
  public var dropped: Int { reader.buffer.dropped }

  /// Stops listening.
  ///
  /// Releases the events that wait. A second call does nothing.
  public func cancel() { reader.buffer.cancel() }

  /// Returns an iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  /// Reads the events.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    /// Waits for the next event.
    ///
    /// Returns nil at the end.
    ///
    /// - Throws: The stream's error, once, after the events before it; `CancellationError` if the
    ///   task is cancelled, which does not end the stream.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws
      -> PluginEvent?
    {
      try await reader.buffer.next(isolation: actor)
    }

    /// Waits for the next event.
    public mutating func next() async throws -> PluginEvent? { try await next(isolation: nil) }
  }

  /// Cancels the stream when its last reference is gone.
  fileprivate final class Reader: Sendable {
    private let plugin: Plugin
    let buffer: EventBuffer

    init(_ plugin: Plugin, _ buffer: EventBuffer) {
      self.plugin = plugin
      self.buffer = buffer
    }

    deinit { buffer.cancel() }
  }
}

extension PluginChannel {
  /// Returns the channel with messages of a codec.
  public func messages<Codec: MessageCodec>(_ codec: Codec) -> PluginMessageChannel<Codec> {
    PluginMessageChannel(channel: self, codec: codec)
  }

  /// Returns the channel with methods of a codec.
  public func methods<Codec: MethodCodec>(_ codec: Codec) -> PluginMethodChannel<Codec> {
    PluginMethodChannel(channel: self, codec: codec)
  }
}

/// A channel of a plugin whose messages a codec converts.
public struct PluginMessageChannel<Codec: MessageCodec>: Sendable {
  /// The channel.
  public let channel: PluginChannel
  /// The codec.
  public let codec: Codec

  /// Runs a direct handler on the calling thread.
  ///
  /// Throws the codec's errors and those of the channel's `call`.
  public func call(_ message: Codec.Message) throws -> Codec.Message {
    try codec.encode(message).withUnsafeBytes { bytes in
      try channel.call(bytes) {
        try codec.decode($0 ?? UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
  }

  /// Sends a message and waits for the answer.
  ///
  /// Throws the codec's errors and those of the channel's `send`.
  public func send(
    _ message: Codec.Message, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Codec.Message {
    let answer = try await channel.send(try codec.encode(message))
    return try answer.withUnsafeBytes { try codec.decode($0) }
  }

  /// Listens to the channel's events.
  ///
  /// `arguments` replaces the options' bytes.
  public func listen(
    _ arguments: Codec.Message, options: PluginListenOptions = PluginListenOptions()
  ) throws -> PluginEvents {
    var options = options
    options.arguments = try codec.encode(arguments)
    return try channel.listen(options)
  }
}

/// A channel of a plugin whose handler has methods.
public struct PluginMethodChannel<Codec: MethodCodec>: Sendable {
  /// The channel.
  public let channel: PluginChannel
  /// The codec.
  public let codec: Codec

  /// Calls a method of a direct handler on the calling thread.
  ///
  /// Throws a `RemoteError` for the method's own failure.
  public func call(_ method: String, _ arguments: Value = .null) throws -> Value {
    try codec.encode(call: MethodCall(method, arguments)).withUnsafeBytes { bytes in
      try channel.call(bytes) {
        try value($0 ?? UnsafeRawBufferPointer(start: nil, count: 0), method)
      }
    }
  }

  /// Calls a method and waits for its result.
  ///
  /// Throws a `RemoteError` for the method's own failure.
  public func send(
    _ method: String, _ arguments: Value = .null, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value {
    let answer = try await channel.send(try codec.encode(call: MethodCall(method, arguments)))
    return try answer.withUnsafeBytes { try value($0, method) }
  }

  private func value(_ bytes: UnsafeRawBufferPointer, _ method: String) throws -> Value {
    switch try codec.decodeReply(bytes) {
    case .success(let value): return value
    case .failure(let code, let message, let details, _):
      throw RemoteError(code: code, message: message ?? "", details: details)
    case .none:
      throw ClearwayError(
        replied: .notImplemented, "\(channel.name) has no method \(method)")
    }
  }
}
