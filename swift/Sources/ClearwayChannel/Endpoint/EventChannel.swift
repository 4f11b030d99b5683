// SPDX-License-Identifier: MIT OR Apache-2.0

/// A channel of events. Both ends may listen and serve.
public struct EventChannel: Sendable {
  let core: Core
  /// The channel's name.
  public let name: String
  let codec: any MethodCodec

  /// Listens to the channel. The other end sends only as many events as the window allows.
  ///
  /// A second `listen` on a channel ends the first one with ``ClearwayError/Code/cancelled``. Errors
  /// arrive through the sequence. Throws the codec's errors for the arguments, and
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
