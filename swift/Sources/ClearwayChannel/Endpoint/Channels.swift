// SPDX-License-Identifier: MIT OR Apache-2.0

/// In which order a handler serves the requests of a channel.
public enum HandlerOrder: Sendable {
  /// One after the other, in the order in which they arrived.
  case inOrder
  /// All at the same time.
  case concurrent
}

/// A channel of single messages. Each may have a reply. Both ends may send and handle.
public struct MessageChannel<Codec: MessageCodec>: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: Codec

  /// Sends a message and returns the reply, or nil for a reply without a value.
  ///
  /// Throws the codec's errors, a ``RemoteError``, a ``ClearwayError`` such as
  /// ``ClearwayError/Code/noHandler`` or ``ClearwayError/Code/deadline``, and `CancellationError` if
  /// the task is cancelled, which cancels the call at the other end, too. A reply that does not have
  /// the type of the messages is ``ClearwayError/Code/protocolViolation``, which names the channel.
  public func send(_ message: Codec.Message, options: CallOptions = CallOptions()) async throws
    -> Codec.Message?
  {
    let answer = try await core.calls.call(
      name, try core.connection.encode(codec, message, to: name), options)
    if answer.flags & Flag.empty != 0 { return nil }
    return try core.connection.decode(codec, answer, name, "reply")
  }

  /// Sends a message without a reply. Returns when the transport has accepted it.
  public func post(_ message: Codec.Message) async throws {
    try await core.posts.post(name, try core.connection.encode(codec, message, to: name))
  }

  /// Handles the other end's messages, those that came earlier first.
  ///
  /// An error of the handler crosses to the sender; throw a ``RemoteError`` to choose its code. Throws
  /// ``ClearwayError/Code/invalidArgument`` if the channel has a handler.
  @discardableResult
  public func handle(
    _ order: HandlerOrder = .inOrder,
    _ handler: @escaping @Sendable (Codec.Message, HandlerContext) async throws -> Codec.Message?
  ) throws(ClearwayError) -> HandlerRegistration {
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      RequestHandler(order) { served in
        do {
          let message = try connection.decode(codec, served.message, served.channel, "message")
          guard let reply = try await handler(message, served.context) else {
            return served.answer(.done, flags: Flag.empty)
          }
          try served.answer { try connection.encode(codec, answer: reply) }
        } catch {
          served.fail(error)
        }
      })
  }
}

/// A channel of methods. Both ends may call and handle.
public struct MethodChannel: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: any MethodCodec

  /// Calls a method and returns its result.
  ///
  /// Throws as ``MessageChannel/send(_:options:)`` does, or
  /// ``ClearwayError/Code/notImplemented``.
  public func call(
    _ method: String, _ arguments: Value = .null, options: CallOptions = CallOptions()
  ) async throws -> Value {
    let body = try core.connection.encode(codec, call: MethodCall(method, arguments), to: name)
    let answer = try await core.calls.call(name, body, options)
    return try core.connection.decodeReply(codec, answer, name)
  }

  /// Calls a method with arguments and a result of your own types.
  ///
  /// A result of another type, or a number that does not fit, is
  /// ``ClearwayError/Code/protocolViolation``, which names the channel, the method, the place and
  /// the kind of the value.
  public func call<Result: Decodable>(
    _ method: String, _ arguments: some Encodable, returning: Result.Type = Result.self,
    options: CallOptions = CallOptions()
  ) async throws -> Result {
    let body: [UInt8]
    if let standard = codec as? StandardMethodCodec {
      body = try standard.encode(
        method, arguments, bytesMax: core.connection.bytesMax(name))
    } else {
      let value = try ValueEncoder().encode(arguments)
      body = try core.connection.encode(codec, call: MethodCall(method, value), to: name)
    }
    let answer = try await core.calls.call(name, body, options)
    return try core.connection.decode(
      Result.self, codec, answer, name, method: method, "result")
  }

  /// Handles the other end's calls. Throw ``ClearwayError/Code/notImplemented`` for other methods.
  @discardableResult
  public func handle(
    _ order: HandlerOrder = .concurrent,
    _ handler: @escaping @Sendable (MethodCall, HandlerContext) async throws -> Value
  ) throws(ClearwayError) -> HandlerRegistration {
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      RequestHandler(order) { served in
        do {
          let call = try connection.decodeCall(codec, served.message)
          let result = try await handler(call, served.context)
          try served.answer { try connection.encode(codec, result: result) }
        } catch {
          served.fail(error)
        }
      })
  }
}

/// Runs a handler in a task for each request, or in one task for all.
private final class RequestHandler: ChannelHandler, @unchecked Sendable {
  private let order: HandlerOrder
  private let body: @Sendable (Served) async -> Void
  private let lock = Lock()
  private var waiting = Deque<Served>()
  private var isRunning = false

  init(_ order: HandlerOrder, _ body: @escaping @Sendable (Served) async -> Void) {
    self.order = order
    self.body = body
  }

  func request(_ served: Served) {
    if order == .concurrent { return served.start(body) }
    served.isInLine = true
    let mustStart = lock.held {
      waiting.append(served)
      defer { isRunning = true }
      return !isRunning
    }
    if mustStart { Task.detached { await self.run() } }
  }

  private func run() async {
    while let next = next() { await next.run(body) }
  }

  private func next() -> Served? {
    lock.held {
      let next = waiting.popFirst()
      isRunning = next != nil
      return next
    }
  }
}

/// A channel of events. Both ends may listen and serve.
public struct EventChannel: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: any MethodCodec

  /// Listens to the channel. The other end sends only as many events as the window allows.
  ///
  /// Each `listen` starts a stream of its own, with its own window. Errors arrive through the
  /// sequence. Throws the codec's errors for the arguments, and
  /// ``ClearwayError/Code/invalidArgument`` for an option out of its range.
  public func listen(_ arguments: Value = .null, options: ListenOptions = ListenOptions())
    throws(ClearwayError) -> EventStream
  {
    try options.validate()
    let body = try core.connection.encode(
      codec, call: MethodCall("listen", arguments), to: name)
    let subscription = core.subscriptions.listen(name, body, options)
    return EventStream(EventStream.Storage(core, subscription, codec, name))
  }

  /// Serves the channel: runs `source` for each listener, which sends its events to the sink.
  ///
  /// The stream ends when `source` returns or throws. When the listener stops, the task of `source`
  /// is cancelled. Throws ``ClearwayError/Code/invalidArgument`` if the channel has a handler.
  @discardableResult
  public func serve(
    options: ServeOptions = ServeOptions(),
    _ source: @escaping @Sendable (_ arguments: Value, EventSink) async throws -> Void
  ) throws(ClearwayError) -> HandlerRegistration {
    try options.validate()
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      StreamHandler(options) { source0, arguments in
        let call = try connection.decodeCall(codec, arguments)
        try await source(call.arguments, EventSink(source: source0, codec: codec))
      })
  }

  /// Serves the channel from sequences. The next value is asked for when it may be sent at once, so
  /// no event waits and none is dropped.
  @discardableResult
  public func serve<S: AsyncSequence & Sendable>(
    each source: @escaping @Sendable (_ arguments: Value) async throws -> S
  ) throws(ClearwayError) -> HandlerRegistration where S.Element == Value {
    let (connection, codec) = (core.connection, codec)
    return try HandlerRegistration(
      core, name,
      StreamHandler(ServeOptions()) { source0, arguments in
        let call = try connection.decodeCall(codec, arguments)
        var values = try await source(call.arguments).makeAsyncIterator()
        while await source0.isReady(), let value = try await values.next() {
          _ = try await source0.send(try connection.encode(codec, result: value))
        }
      })
  }
}

/// Starts a source for each listener of a channel.
private final class StreamHandler: ChannelHandler, Sendable {
  private let options: ServeOptions
  private let body: @Sendable (Source, Received) async throws -> Void

  init(
    _ options: ServeOptions, _ body: @escaping @Sendable (Source, Received) async throws -> Void
  ) {
    self.options = options
    self.body = body
  }

  func listen(_ stream: RequestedStream) {
    let (body, arguments) = (body, stream.arguments)
    stream.serve(options) { source in try await body(source, arguments) }
  }
}

/// Takes the events for one listener.
public struct EventSink: Sendable {
  let source: Source
  let codec: any MethodCodec

  /// Sends an event. Returns false if the policy dropped it.
  ///
  /// Waits for room if the policy is ``WhenFull/wait``. Throws ``ClearwayError/Code/queueFull`` if it
  /// is ``WhenFull/fail``, `CancellationError` after the end of the stream, and the codec's errors.
  @discardableResult
  public func send(_ event: Value) async throws -> Bool {
    try await source.send(try source.connection.encode(codec, result: event))
  }

  /// Waits until an event could be sent at once. Returns false if the stream is over.
  ///
  /// If several tasks wait, all go on at the same time, and may find no room any more.
  public func isReady() async -> Bool { await source.isReady() }
}

/// The events of a channel, in order. One task at a time reads them: a read while another task waits
/// throws ``ClearwayError/Code/invalidArgument``, and the other task goes on.
///
/// The stream stops at the other end when a loop over it ends and the stream is released, when the
/// reading task is cancelled, or by ``stop()``.
public struct EventStream: AsyncSequence, Sendable {
  /// An event's value.
  public typealias Element = Value

  final class Storage: Sendable {
    let core: Core
    let subscription: Subscription
    let codec: any MethodCodec
    let name: String

    init(_ core: Core, _ subscription: Subscription, _ codec: any MethodCodec, _ name: String) {
      self.core = core
      self.subscription = subscription
      self.codec = codec
      self.name = name
    }

    deinit { subscription.stop() }
  }

  private let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  /// The events that were dropped so far, of those that were read.
  public var dropped: Int { storage.subscription.droppedCount }

  /// Ends the stream at both ends. Reads return the end.
  public func stop() { storage.subscription.stop() }

  /// Returns the events as a type of your own.
  public func of<T: Decodable & Sendable>(_ type: T.Type) -> EventsOfType<T> {
    EventsOfType(storage: storage)
  }

  /// Returns the iterator. All iterators of a stream share its events.
  public func makeAsyncIterator() -> Iterator { Iterator(storage: storage) }

  /// Reads the events of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let storage: Storage

    /// Waits for the next event. Returns nil at the end, and if the task is cancelled.
    ///
    /// Throws the stream's error once: a ``RemoteError`` or a ``ClearwayError``.
    public mutating func next() async throws -> Value? {
      try await storage.next {
        try storage.core.connection.decodeReply(storage.codec, $0, storage.name)
      }
    }
  }
}

extension EventStream.Storage {
  /// Waits for the next event and decodes it. An event that cannot be decoded ends the stream.
  fileprivate func next<T>(_ decode: (Received) throws -> T) async throws -> T? {
    switch try await subscription.next() {
    case .end: return nil
    case .event(let message):
      do {
        return try decode(message)
      } catch {
        subscription.stop()
        throw error
      }
    }
  }
}

/// The events of a channel as a type of your own, in order. One task at a time reads them.
public struct EventsOfType<Element: Decodable & Sendable>: AsyncSequence, Sendable {
  fileprivate let storage: EventStream.Storage

  /// Returns the iterator. All iterators of a stream share its events.
  public func makeAsyncIterator() -> Iterator { Iterator(storage: storage) }

  /// Reads the events of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let storage: EventStream.Storage

    /// Waits for the next event, as ``EventStream/Iterator/next()`` does.
    ///
    /// Throws ``ClearwayError/Code/protocolViolation`` for an event of another type, and ends the
    /// stream.
    public mutating func next() async throws -> Element? {
      try await storage.next {
        try storage.core.connection.decode(
          Element.self, storage.codec, $0, storage.name, "event")
      }
    }
  }
}
