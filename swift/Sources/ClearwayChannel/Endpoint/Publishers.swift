// SPDX-License-Identifier: MIT OR Apache-2.0

/// A stream that the other end has requested and that has not begun.
final class RequestedStream: @unchecked Sendable {
  private let publishers: Publishers
  let id: UInt32
  let channel: String
  let arguments: Received
  private let capacity: Int
  private let policy: UInt8
  /// The credit that the listener has granted before the stream begins.
  var granted = SendCredit()

  init(_ publishers: Publishers, _ frame: Frame, _ channel: String) {
    self.publishers = publishers
    self.channel = channel
    id = frame.head.id
    arguments = frame.message
    capacity = Int(frame.head.c)
    policy = frame.head.flags >> Flag.whenFullShift
    granted.grant(Int64(frame.head.a), Int64(frame.head.b))
  }

  /// The limits that the listener asked for, and `own` for those that it did not set.
  func limits(_ own: ServeOptions) -> ServeOptions {
    ServeOptions(
      capacity: capacity > 0 ? capacity : own.capacity,
      whenFull: WhenFull(rawValue: policy) ?? own.whenFull)
  }

  func refuse(_ status: Status) { publishers.refuse(self, status) }

  /// Begins the stream. The caller holds the lock.
  func serve(_ own: ServeOptions, _ body: @escaping @Sendable (Source) async throws -> Void) {
    publishers.serve(self, own, body)
  }
}

/// The streams that this end serves. The endpoint's lock guards it.
final class Publishers: @unchecked Sendable {
  private let connection: Connection
  private let router: RequestRouter
  private var requested: [UInt32: (stream: RequestedStream, request: Request)] = [:]
  private var open: [UInt32: Source] = [:]
  /// The streams that have ended while their code still runs. They count against `callsMax`.
  private var stopping: Set<ObjectIdentifier> = []

  init(_ connection: Connection, _ router: RequestRouter) {
    self.connection = connection
    self.router = router
  }

  var count: Int { open.count + requested.count }

  func request(_ frame: Frame, _ channel: String) {
    let id = frame.head.id
    if requested[id] != nil || open[id] != nil {
      return connection.broken("two streams of number \(id)")
    }
    replace(channel)
    // Too many ends of streams that wait to leave close the connection.
    if connection.reason != nil { return }
    let stream = RequestedStream(self, frame, channel)
    let request = Request(.stream(stream), channel, frame.memory)
    requested[id] = (stream, request)
    if count + stopping.count > connection.settings.callsMax { return stream.refuse(.busy) }
    router.listen(request)
  }

  func serve(
    _ stream: RequestedStream, _ own: ServeOptions,
    _ body: @escaping @Sendable (Source) async throws -> Void
  ) {
    guard requested[stream.id]?.stream === stream else { return }
    requested[stream.id] = nil
    let source = Source(self, connection, stream, stream.limits(own))
    open[stream.id] = source
    source.run(body)
  }

  func refuse(_ stream: RequestedStream, _ status: Status) {
    connection.locked {
      guard requested[stream.id]?.stream === stream else { return }
      requested[stream.id] = nil
      router.replies.send(Head(op: Op.end, id: stream.id, a: status.rawValue), [])
    }
  }

  func credit(_ frame: Frame) {
    if let source = open[frame.head.id] { return source.grant(frame.head.a, frame.head.b) }
    requested[frame.head.id]?.stream.granted.grant(Int64(frame.head.a), Int64(frame.head.b))
  }

  /// Ends a stream, because its listener has stopped.
  func cancel(_ id: UInt32) {
    if let source = open[id] { return source.cancel(nil) }
    if let (_, request) = requested.removeValue(forKey: id) { router.withdraw(request) }
  }

  func drain() {
    for source in open.values { source.drain() }
  }

  /// Ends all streams. With a status, tells the listeners.
  func closed(_ status: Status?) {
    if status == nil { requested = [:] }
    for source in open.values { source.cancel(status) }
  }

  func end(_ source: Source, _ status: Status, _ body: [UInt8], _ dropped: Int) {
    let head = Head(
      op: Op.end, id: source.id, a: status.rawValue, b: UInt32(clamping: dropped))
    router.replies.send(head, body)
  }

  func streamEnded(_ source: Source) {
    if open[source.id] === source { open[source.id] = nil }
    if source.isRunning { stopping.insert(ObjectIdentifier(source)) }
  }

  func sourceEnded(_ source: Source) { stopping.remove(ObjectIdentifier(source)) }

  /// Ends the stream that the channel has, because a new listener replaces it.
  private func replace(_ channel: String) {
    if let running = open.values.first(where: { $0.channel == channel }) {
      return running.cancel(.cancelled)
    }
    if let (stream, request) = requested.values.first(where: { $0.stream.channel == channel }) {
      router.withdraw(request)
      stream.refuse(.cancelled)
    }
  }
}
