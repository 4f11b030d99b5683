// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayTasks

typealias EventStream = AsyncStream<Event>

/// Asynchronous streams, alone and with actors.
let streamKinds: [PushKind] = [
  PushKind("async-stream") { receiver in
    .calls(StreamSending(readBy: ReceivingActor(receiver)))
  },
  PushKind("async-stream-newest-1", promise: .someInOrder) { receiver in
    .calls(StreamSending(.bufferingNewest(1), readBy: ReceivingActor(receiver)))
  },
  PushKind("async-stream-newest-64", promise: .someInOrder) { receiver in
    .calls(StreamSending(.bufferingNewest(64), readBy: ReceivingActor(receiver)))
  },
  PushKind("async-stream-unfolding") { receiver in
    .task { load in await pull(load, to: ReceivingActor(receiver)) }
  },
  actorStream("actor-stream", newest: nil),
  actorStream("actor-stream-newest-1", newest: 1, promise: .someInOrder),
  PushKind("actor-stream-unfolding") { receiver in
    .task { load in await unfold(load, to: ReceivingActor(receiver)) }
  },
  PushKind("clearway-stream") { receiver in
    .task { load in await credit(load, to: ReceivingActor(receiver)) }
  },
]

/// A stream with a continuation.
///
/// The sender calls `yield` where it is; a task of an actor reads.
final class StreamSending: Sending, @unchecked Sendable {
  private let continuation: EventStream.Continuation

  /// Only the sender uses it.
  private var dropped = 0

  init(_ policy: EventStream.Continuation.BufferingPolicy = .unbounded, read: (EventStream) -> Void)
  {
    let (stream, continuation) = EventStream.makeStream(bufferingPolicy: policy)
    self.continuation = continuation
    read(stream)
  }

  convenience init(
    _ policy: EventStream.Continuation.BufferingPolicy = .unbounded, readBy actor: ReceivingActor
  ) {
    self.init(policy) { stream in Task { await actor.receiveAll(stream) } }
  }

  func send(_ event: Event) {
    if case .dropped = continuation.yield(event) { dropped += 1 }
  }

  func finish() -> Int {
    continuation.finish()
    return dropped
  }
}

/// The reader's next event is made when it asks: the sender's loop is the stream's closure.
private func pull(_ load: Load, to actor: ReceivingActor) async -> Int {
  let pacer = Pacer(load)
  await actor.receiveAll(EventStream(unfolding: { await pacer.next() }))
  return 0
}

/// The sender awaits an actor.
///
/// The stream's closure asks that actor for the next event; another actor reads.
private func unfold(_ load: Load, to actor: ReceivingActor) async -> Int {
  let hub = UnfoldingHub()
  let reader = Task { await actor.receiveAll(EventStream(unfolding: { await hub.next() })) }
  let pacer = Pacer(load)
  while let event = await pacer.next() { await hub.send(event) }
  await hub.finish()
  await reader.value
  return 0
}

private func actorStream(
  _ name: String, newest: Int?, promise: Promise = .everyInOrder
) -> PushKind {
  PushKind(name, promise: promise) { receiver in
    .task { load in await yield(load, newest: newest, to: ReceivingActor(receiver)) }
  }
}

/// The sender awaits an actor, which yields to its stream; another actor reads.
private func yield(_ load: Load, newest: Int?, to actor: ReceivingActor) async -> Int {
  let (stream, continuation) = EventStream.makeStream(
    bufferingPolicy: newest.map { .bufferingNewest($0) } ?? .unbounded)
  let hub = ContinuationHub(continuation)
  let reader = Task { await actor.receiveAll(stream) }
  let pacer = Pacer(load)
  while let event = await pacer.next() { await hub.send(event) }
  let dropped = await hub.finish()
  await reader.value
  return dropped
}

private actor ContinuationHub {
  private let continuation: EventStream.Continuation
  private var dropped = 0

  init(_ continuation: EventStream.Continuation) {
    self.continuation = continuation
  }

  func send(_ event: Event) {
    if case .dropped = continuation.yield(event) { dropped += 1 }
  }

  func finish() -> Int {
    continuation.finish()
    return dropped
  }
}

/// The source of a stream that unfolds: the reader asks the actor, which keeps events until it
/// does.
private actor UnfoldingHub {
  private var waiting: [Event] = []
  private var read = 0
  private var isFinished = false
  private var reader: CheckedContinuation<Event?, Never>?

  func send(_ event: Event) {
    if let reader {
      self.reader = nil
      reader.resume(returning: event)
    } else {
      waiting.append(event)
    }
  }

  func finish() {
    isFinished = true
    reader?.resume(returning: nil)
    reader = nil
  }

  /// Returns the oldest event.
  ///
  /// Waits for one if there is none. Only one reader may wait.
  func next() async -> Event? {
    if read < waiting.count {
      defer {
        read += 1
        if read == waiting.count {
          waiting.removeAll(keepingCapacity: true)
          read = 0
        }
      }
      return waiting[read]
    }
    if isFinished { return nil }
    return await withCheckedContinuation { reader = $0 }
  }
}

/// Clearway's stream: the sender awaits while 64 events wait, so nothing is lost and no queue
/// grows.
private func credit(_ load: Load, to actor: ReceivingActor) async -> Int {
  // The number is within the limits of the initialiser, which are its only error.
  guard let (stream, sink) = try? CreditStream.makeStream(of: Event.self, itemsMax: 64) else {
    return 0
  }
  let reader = Task { await actor.receiveAll(stream) }
  let pacer = Pacer(load)
  while let event = await pacer.next() { try? await sink.send(event) }
  sink.finish()
  await reader.value
  return 0
}
