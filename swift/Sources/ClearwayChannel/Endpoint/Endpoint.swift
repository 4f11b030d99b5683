// SPDX-License-Identifier: MIT OR Apache-2.0

/// One end of a connection. Both ends have the same rights, and may be of different languages.
///
/// Any task may use it. Close it: an endpoint that is only forgotten keeps its connection.
public final class Endpoint: Sendable {
  let core: Core

  init(_ core: Core) { self.core = core }

  /// Connects over a transport. Both ends send a hello first.
  ///
  /// Takes the transport over, and closes it if the hello fails or the task is cancelled. Register
  /// handlers at once: messages that arrive earlier wait, within limits. Throws
  /// ``ClearwayError/Code/protocolViolation`` for another hello, ``ClearwayError/Code/deadline``
  /// without one, ``ClearwayError/Code/transportClosed``, and
  /// ``ClearwayError/Code/invalidArgument`` for an option out of its range, and for a transport that
  /// another endpoint has, which goes on.
  public static func connect(
    _ transport: any ChannelTransport, options: EndpointOptions = EndpointOptions()
  ) async throws -> Endpoint {
    try options.validate()
    try check("transport.frameBytesMax", transport.frameBytesMax, in: Hello.frameBytesMin...Int.max)
    if let own = transport as? any OwnTransport, !own.owner.take() {
      throw ClearwayError(
        .invalidArgument, "transport must carry one endpoint: transport=\(transport.name)")
    }
    return Endpoint(try await Handshake(transport, options).connect())
  }

  /// Returns a channel of messages. Throws ``ClearwayError/Code/invalidArgument`` for a long name.
  public func messages<Codec: MessageCodec>(_ name: String, codec: Codec)
    throws(ClearwayError) -> MessageChannel<Codec>
  {
    try checkName(name)
    return MessageChannel(core: core, name: name, codec: codec)
  }

  /// Returns a channel of messages with the standard codec.
  public func messages(_ name: String) throws(ClearwayError) -> MessageChannel<StandardMessageCodec>
  {
    try messages(name, codec: StandardMessageCodec())
  }

  /// Returns a channel of methods. Throws ``ClearwayError/Code/invalidArgument`` for a long name.
  public func methods(_ name: String, codec: any MethodCodec = StandardMethodCodec())
    throws(ClearwayError) -> MethodChannel
  {
    try checkName(name)
    return MethodChannel(core: core, name: name, codec: codec)
  }

  /// Returns a channel of events. Throws ``ClearwayError/Code/invalidArgument`` for a long name.
  public func events(_ name: String, codec: any MethodCodec = StandardMethodCodec())
    throws(ClearwayError) -> EventChannel
  {
    try checkName(name)
    return EventChannel(core: core, name: name, codec: codec)
  }

  private func checkName(_ name: String) throws(ClearwayError) {
    let most = core.connection.settings.nameBytesMax
    if name.utf8.count > most {
      throw ClearwayError(.invalidArgument, "name must have at most \(most) bytes: name=\(name)")
    }
  }

  /// Waits until the transport has closed, and returns the reason.
  public func closed() async -> CloseReason { await core.closed() }

  /// Closes the endpoint after its calls are answered, and returns the reason.
  ///
  /// This end starts no more calls, ends the streams that it serves, and refuses new ones with `no-handler`.
  /// It waits until its own calls are answered and the posts that wait for room have left, then refuses
  /// calls, too, and waits for those that run. It closes the transport at the latest after `timeout`.
  @discardableResult
  public func close(timeout: Duration = .seconds(5)) async -> CloseReason {
    core.close(timeoutMs: max(0, timeout.milliseconds))
    return await core.closed()
  }

  /// Closes the transport at once. All calls and streams end with `transport-closed`.
  public func terminate(_ reason: CloseReason = .closed) { core.terminate(reason) }

  /// Counters of the endpoint's current work.
  public struct Stats: Sendable, Equatable {
    /// The calls of this end that wait for their answers.
    public let calls: Int
    /// The requests of the other end whose handler runs, or whose answer was not sent.
    public let handling: Int
    /// The bytes of answers and events that wait until the other end reads.
    public let waitingBytes: Int
    /// The streams that this end listens to.
    public let listening: Int
    /// The streams that this end serves.
    public let serving: Int
  }

  /// Returns the counters.
  public func stats() -> Stats {
    core.connection.locked {
      Stats(
        calls: core.calls.count, handling: core.router.count,
        waitingBytes: core.replies.bytes + core.connection.queuedBytes,
        listening: core.subscriptions.count, serving: core.publishers.count)
    }
  }
}

/// A handler that is registered for a channel.
public final class HandlerRegistration: Sendable {
  private let core: Core
  private let name: String
  private let handler: any ChannelHandler

  init(_ core: Core, _ name: String, _ handler: any ChannelHandler) throws(ClearwayError) {
    if !core.router.handle(name, handler) {
      throw ClearwayError(.invalidArgument, "channel must be handled once: channel=\(name)")
    }
    self.core = core
    self.name = name
    self.handler = handler
  }

  /// Removes the handler. Requests that it serves already go on.
  public func cancel() { core.router.unhandle(name, handler) }
}

/// The settings of an endpoint. ``Endpoint/connect(_:options:)`` checks them.
public struct EndpointOptions: Sendable {
  /// How long to wait for the other end's hello; nil waits for ever.
  public var helloTimeout: Duration? = .seconds(30)
  /// The number of calls, posts and streams that may be open, in each direction.
  ///
  /// A request of the other end counts until its handler has ended and its answer was sent, even if
  /// the caller has cancelled it.
  public var callsMax = 4096
  /// The bytes of answers that may wait until the other end reads. Each counts 512 bytes more.
  ///
  /// At this limit no further request of the other end starts, and the transport pauses unless this
  /// end waits for an answer itself. The same number limits the events that wait, over all streams; each
  /// counts 128 bytes more.
  public var replyBytesMax = 16 << 20
  /// How long the other end may read no answer at that limit; nil waits for ever.
  ///
  /// While a message of more than 1 MiB leaves, the other end has this time for each MiB.
  public var stallTimeout: Duration? = .seconds(30)
  /// The number of values in one message that arrives; nil is 1,048,576, or 16,777,216 from an end
  /// of the same program.
  public var valuesMax: Int?
  /// The longest name of a channel in bytes.
  public var nameBytesMax = 255
  /// The messages of a channel that are kept until it has a handler.
  public var early = 16
  /// The bytes of all messages that are kept. Each counts 512 bytes more.
  public var earlyBytesMax = 1 << 20
  /// How long a message is kept.
  public var earlyTime: Duration = .seconds(5)
  /// Whether an error keeps its details on the way from a third end; nil decides by
  /// ``ChannelTransport/isTrusted``.
  public var exposeErrors: Bool?
  /// Replaces an error that a handler or a source threw by the error that the other end gets.
  public var redactError: (@Sendable (any Error, _ channel: String) -> any Error)?
  /// Receives errors that belong to no call, such as those of a handler of posts, and the first of a
  /// channel's posts that this end drops.
  public var onError: @Sendable (any Error, _ channel: String) -> Void = { error, channel in
    printError("clearway, channel \(channel): \(error)")
  }
  var clock: any ChannelClock = SystemClock()

  static let earlyMax = 1024

  /// Makes the default settings.
  public init() {}

  /// Throws ``ClearwayError/Code/invalidArgument`` for a setting out of its range.
  func validate() throws(ClearwayError) {
    try check("callsMax", callsMax, in: 1...1_000_000)
    try check("replyBytesMax", replyBytesMax, in: 1...Int(UInt32.max))
    if let valuesMax { try check("valuesMax", valuesMax, in: 1...Int.max) }
    try check("nameBytesMax", nameBytesMax, in: 1...Int(UInt16.max))
    try check("early", early, in: 0...Self.earlyMax)
    try check("earlyBytesMax", earlyBytesMax, in: 0...Int(UInt32.max))
    try checkTime("earlyTime", earlyTime)
    try checkTime("helloTimeout", helloTimeout)
    try checkTime("stallTimeout", stallTimeout)
  }
}

func checkTime(_ name: String, _ time: Duration?) throws(ClearwayError) {
  if let time, time < .zero {
    throw ClearwayError(.invalidArgument, "\(name) must not be below zero: \(name)=\(time)")
  }
}

/// The limits of one call.
public struct CallOptions: Sendable {
  /// How long this end waits for the answer; nil waits for ever. The handler can read it.
  public var deadline: Duration?
  /// How long the handler may run at the other end; nil is without a limit.
  public var timeout: Duration?

  /// Makes options.
  public init(deadline: Duration? = nil, timeout: Duration? = nil) {
    self.deadline = deadline
    self.timeout = timeout
  }
}

/// What happens to an event for which there is no room.
public enum WhenFull: UInt8, Sendable, CaseIterable {
  /// The source waits.
  case wait = 1
  /// The source gets ``ClearwayError/Code/queueFull``.
  case fail
  /// The oldest waiting event is dropped.
  case dropOldest
  /// The event is dropped.
  case dropNewest

  var drops: Bool { self == .dropOldest || self == .dropNewest }
}

/// The options of a listener.
public struct ListenOptions: Sendable {
  /// The events that the other end may send ahead of the reader.
  public var windowItems = 16
  /// The bytes that the other end may send ahead of the reader. They limit the number of events, too:
  /// one for each 128 bytes.
  public var windowBytes = 1 << 20
  /// The pushed events that may wait at the other end; nil is that end's own number.
  public var capacity: Int?
  /// The policy for more events; nil is the other end's own. `wait` and `fail` do not override a policy of the
  /// other end that drops.
  public var whenFull: WhenFull?
  /// Receives the number of events that were dropped before the next one, when that one is read.
  public var onDrop: (@Sendable (Int) -> Void)?

  /// Makes the default options.
  public init() {}

  /// Options for a reader that wants only the newest event, such as a frame to draw.
  public static var latest: ListenOptions {
    var options = ListenOptions()
    options.windowItems = 1
    options.capacity = 1
    options.whenFull = .dropOldest
    return options
  }

  /// The smallest events take memory, too, which the other end does not count in its bytes.
  var grantedItems: Int { min(windowItems, max(1, windowBytes / entryBytes)) }

  func validate() throws(ClearwayError) {
    try check("windowItems", windowItems, in: 1...Int(Int32.max))
    try check("windowBytes", windowBytes, in: 1...Int(Int32.max))
    if let capacity { try check("capacity", capacity, in: 1...Int(UInt16.max)) }
  }
}

/// The options of a served channel, for listeners that set none.
public struct ServeOptions: Sendable {
  /// The events that may wait while the listener's window is used up.
  public var capacity: Int
  /// The policy for more events.
  public var whenFull: WhenFull

  /// Makes options.
  public init(capacity: Int = 16, whenFull: WhenFull = .wait) {
    self.capacity = capacity
    self.whenFull = whenFull
  }

  func validate() throws(ClearwayError) {
    try check("capacity", capacity, in: 1...Int(UInt16.max))
  }
}
