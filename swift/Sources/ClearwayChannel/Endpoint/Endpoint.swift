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
  /// This end starts no more calls, and ends the streams that it serves. It closes the transport when
  /// the calls of both directions are answered, and at the latest after `timeout`.
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
