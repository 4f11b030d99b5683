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

  /// The limits that the listener asked for, and `own` for those that it did not set. A policy of the source
  /// that drops stays if that of the listener does not drop.
  func limits(_ own: ServeOptions) -> ServeOptions {
    let asked = WhenFull(rawValue: policy) ?? own.whenFull
    return ServeOptions(
      capacity: capacity > 0 ? capacity : own.capacity,
      whenFull: own.whenFull.drops && !asked.drops ? own.whenFull : asked)
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
}

/// The stream to one listener, at the end that serves it. The endpoint's lock guards it.
final class Source: @unchecked Sendable {
  private final class Waiter {
    let body: [UInt8]
    var continuation: CheckedContinuation<Bool, any Error>?

    init(_ body: [UInt8]) { self.body = body }
  }

  let connection: Connection
  private let owner: Publishers
  let id: UInt32
  let channel: String
  private let limits: ServeOptions
  var credit: SendCredit
  private var queue = Deque<[UInt8]>()
  private var dropped = 0
  /// The events that wait for room in the queue, in order.
  private var waiters = Deque<Waiter>()
  /// The tasks of the source's code that wait until an event may be sent at once.
  private var producers: [ObjectIdentifier: CheckedContinuation<Bool, Never>] = [:]
  /// How the stream ends after all events were sent; nil until the source ends it.
  private var ending: (status: Status, body: [UInt8])?
  private(set) var hasEnded = false
  private(set) var isRunning = true
  private var task: Task<Void, Never>?

  /// The events of one stream that may wait for room in its queue.
  private static let waitersMax = 1024

  init(
    _ owner: Publishers, _ connection: Connection, _ stream: RequestedStream,
    _ limits: ServeOptions
  ) {
    self.owner = owner
    self.connection = connection
    self.limits = limits
    id = stream.id
    channel = stream.channel
    credit = stream.granted
  }

  private var isOver: Bool { hasEnded || ending != nil }

  /// Runs the source's code in a task of its own. The caller holds the lock.
  func run(_ body: @escaping @Sendable (Source) async throws -> Void) {
    task = Task.detached { [self] in
      do {
        try await body(self)
        finish(.done, [])
      } catch {
        let isOver = connection.locked { self.isOver }
        if !isOver { finish(.error, connection.errorBody(error, channel)) }
      }
      connection.locked {
        isRunning = false
        owner.sourceEnded(self)
      }
    }
  }

  private var hasBytes: Bool { connection.queuedBytes < connection.settings.replyBytesMax }

  private var hasRoom: Bool {
    (queue.count < limits.capacity && hasBytes) || (queue.isEmpty && credit.maySend)
  }

  /// Sends an event, or waits as the policy says. Returns false if the event was dropped.
  func send(_ body: [UInt8]) async throws -> Bool {
    if let error = connection.tooLarge(body) { throw error }
    let waiter = Waiter(body)
    nonisolated(unsafe) let unsafeWaiter = waiter
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        connection.locked {
          if Task.isCancelled {
            return connection.later { continuation.resume(throwing: CancellationError()) }
          }
          push(waiter, continuation)
          drain()
        }
      }
    } onCancel: {
      connection.locked {
        if waiters.remove(where: { $0 === unsafeWaiter }) != nil {
          release(unsafeWaiter.body)
          settle(unsafeWaiter, .failure(CancellationError()))
        }
      }
    }
  }

  private func push(_ waiter: Waiter, _ continuation: CheckedContinuation<Bool, any Error>) {
    waiter.continuation = continuation
    if isOver { return settle(waiter, .failure(CancellationError())) }
    if waiters.isEmpty, hasRoom {
      enqueue(waiter.body)
      return settle(waiter, .success(true))
    }
    switch limits.whenFull {
    // One may always wait, so that the streams of a peer do not stop each other.
    case .wait where waiters.isEmpty || (waiters.count < Self.waitersMax && hasBytes):
      waiters.append(waiter)
      charge(waiter.body)
    case .wait, .fail:
      let behind = queue.count + waiters.count
      settle(
        waiter,
        .failure(ClearwayError(.queueFull, "\(channel): the listener is \(behind) events behind")))
    case .dropOldest where !queue.isEmpty:
      // As many as take the room of the new event: small ones would otherwise be replaced by large ones.
      var freed = 0
      while !hasRoom, freed < waiter.body.count + entryBytes, let oldest = dequeue() {
        freed += oldest.count + entryBytes
        dropped += 1
      }
      enqueue(waiter.body)
      settle(waiter, .success(true))
    case .dropOldest, .dropNewest:
      // The events of other streams may use up the bytes; this one has then no older event to drop.
      dropped += 1
      settle(waiter, .success(false))
    }
  }

  /// Waits until a value could be sent at once. Returns false if the stream is over.
  func isReady() async -> Bool {
    let turn = Turn()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        connection.locked {
          if isOver || Task.isCancelled || mayPull {
            let goesOn = !isOver && !Task.isCancelled
            return connection.later { continuation.resume(returning: goesOn) }
          }
          producers[ObjectIdentifier(turn)] = continuation
        }
      }
    } onCancel: {
      connection.locked {
        guard let waiting = producers.removeValue(forKey: ObjectIdentifier(turn)) else { return }
        connection.later { waiting.resume(returning: false) }
      }
    }
  }

  private var mayPull: Bool {
    queue.isEmpty && waiters.isEmpty && credit.maySend && !connection.isCongested
  }

  private func resumeProducers(_ goesOn: Bool) {
    for waiting in producers.values { connection.later { waiting.resume(returning: goesOn) } }
    producers = [:]
  }

  private func settle(_ waiter: Waiter, _ result: Result<Bool, any Error>) {
    guard let continuation = waiter.continuation else { return }
    waiter.continuation = nil
    connection.later { continuation.resume(with: result) }
  }

  private func charge(_ body: [UInt8]) { connection.queuedBytes += body.count + entryBytes }
  private func release(_ body: [UInt8]) { connection.queuedBytes -= body.count + entryBytes }

  private func enqueue(_ body: [UInt8]) {
    queue.append(body)
    charge(body)
  }

  private func dequeue() -> [UInt8]? {
    let body = queue.popFirst()
    if let body { release(body) }
    return body
  }

  /// Sends the events that may be sent now. The caller holds the lock.
  func drain() {
    while !hasEnded, !connection.isCongested {
      while hasRoom, let waiter = waiters.popFirst() {
        release(waiter.body)
        enqueue(waiter.body)
        settle(waiter, .success(true))
      }
      guard credit.maySend, let body = dequeue() else { break }
      credit.spend(Int64(body.count))
      connection.control(Head(op: Op.event, id: id, a: UInt32(clamping: dropped)), body: body)
      dropped = 0
    }
    if let ending, !hasEnded, queue.isEmpty, waiters.isEmpty, !connection.isCongested {
      close(ending.status, ending.body)
    }
    if isOver { resumeProducers(false) } else if mayPull { resumeProducers(true) }
  }

  func grant(_ items: UInt32, _ bytes: UInt32) {
    credit.grant(Int64(items), Int64(bytes))
    drain()
  }

  /// Ends the stream at once. With a status, tells the listener. The caller holds the lock.
  func cancel(_ status: Status?) {
    if hasEnded { return }
    if let status { owner.end(self, status, [], dropped) }
    stop()
  }

  private func finish(_ status: Status, _ body: [UInt8]) {
    connection.locked {
      if isOver { return }
      ending = (status, body)
      drain()
    }
  }

  private func close(_ status: Status, _ body: [UInt8]) {
    owner.end(self, status, body, dropped)
    stop()
  }

  private func stop() {
    hasEnded = true
    while dequeue() != nil {}
    while let waiter = waiters.popFirst() {
      release(waiter.body)
      settle(waiter, .failure(CancellationError()))
    }
    resumeProducers(false)
    if let task { connection.later { task.cancel() } }
    owner.streamEnded(self)
  }
}
