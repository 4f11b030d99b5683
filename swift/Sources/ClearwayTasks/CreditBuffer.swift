// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads

/// The state of a ``CreditStream``: a bounded buffer, the senders that wait for room, and the
/// readers that wait for elements.
///
/// No code of the application runs under the lock.
final class CreditBuffer<Element>: @unchecked Sendable {
  /// A sender that waits for room: a task or a thread.
  final class Sender {
    var element: Element?
    var continuation: CheckedContinuation<Void, any Error>?
    /// The error that arrived before the wait began.
    var early: (any Error)?
    /// The outcome for a thread that waits.
    var outcome: Result<Void, any Error>?

    init(_ element: Element) { self.element = element }
  }

  final class Reader {
    var continuation: CheckedContinuation<Handle?, any Error>?
    /// The error that arrived before the wait began.
    var early: (any Error)?
  }

  enum Start { case none, idle(@Sendable () -> Task<Void, Never>), running(Task<Void, Never>) }

  private let lock = Lock()
  private let itemsMax: Int
  private let whenFull: WorkPool.WhenFull
  private var items = Fifo<Element>()
  private var senders = Fifo<Sender>()
  private var readers = Fifo<Reader>()
  private var isOver = false
  private var failure: (any Error)?
  private var start = Start.none
  private var lost = 0

  init(itemsMax: Int, whenFull: WorkPool.WhenFull) throws {
    guard (1...1_000_000).contains(itemsMax) else {
      throw TaskError.invalid("itemsMax", mustBe: "1 to 1000000", itemsMax)
    }
    self.itemsMax = itemsMax
    self.whenFull = whenFull
  }

  /// Sets the function that starts the producer at the first read.
  func startsLazily(_ start: @escaping @Sendable () -> Task<Void, Never>) {
    self.start = .idle(start)
  }

  var dropped: Int { locked { lost } }

  private func locked<R>(_ body: () throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  // MARK: Sending

  private static var gone: TaskError {
    TaskError(.released, "the stream has ended, or its reader is gone")
  }

  /// What an element's arrival does.
  private enum Arrival {
    case taken(by: CheckedContinuation<Handle?, any Error>?)
    case full
    /// The element or an older one is dropped, after the lock is released.
    case dropped(Element?)
    case refused(any Error)
  }

  private func arrive(_ element: Element) -> Arrival {
    if isOver { return .refused(Self.gone) }
    if let reader = readers.popFirst() {
      let continuation = reader.continuation
      reader.continuation = nil
      return .taken(by: continuation)
    }
    if items.count < itemsMax {
      items.append(element)
      return .taken(by: nil)
    }
    switch whenFull {
    case .wait: return .full
    case .fail: return .refused(TaskError(.overflow, "\(itemsMax) elements wait already"))
    case .dropNewest:
      lost += 1
      return .dropped(nil)
    case .dropOldest:
      lost += 1
      let oldest = items.popFirst()
      items.append(element)
      return .dropped(oldest)
    }
  }

  /// Sends without waiting.
  ///
  /// Returns a sender that has to wait for room, or nil.
  private func offer(_ element: Element) throws -> Sender? {
    var waiting: Sender?
    let arrival = locked {
      let arrival = arrive(element)
      if case .full = arrival {
        waiting = Sender(element)
        senders.append(waiting!)
      }
      return arrival
    }
    switch arrival {
    case .taken(let continuation): continuation?.resume(returning: Handle(element))
    case .full, .dropped: break
    case .refused(let error):
      if (error as? TaskError)?.code == .overflow { finish(throwing: error) }
      throw error
    }
    return waiting
  }

  func send(_ element: Element, isolation: isolated (any Actor)? = #isolation) async throws {
    try Task.checkCancellation()
    guard let sender = try offer(element) else { return }
    let handle = Shared(sender)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = locked {
          if handle.value.outcome == nil { handle.value.continuation = continuation }
          return handle.value.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      giveUp(handle.value)
    }
  }

  /// Sends, and blocks the calling thread until there is room or the stream ends.
  func sendBlocking(_ element: Element) throws {
    guard let sender = try offer(element) else { return }
    let outcome: Result<Void, any Error> = locked {
      while true {
        if let outcome = sender.outcome { return outcome }
        lock.wait()
      }
    }
    try outcome.get()
  }

  /// Withdraws an element that waits for room.
  private func giveUp(_ sender: Sender) {
    let (continuation, element) = locked {
      guard sender.outcome == nil else {
        return (nil as CheckedContinuation<Void, any Error>?, nil as Element?)
      }
      sender.outcome = .failure(CancellationError())
      senders.removeAll { $0 === sender }
      let (continuation, element) = (sender.continuation, sender.element)
      sender.continuation = nil
      sender.element = nil
      return (continuation, element)
    }
    continuation?.resume(throwing: CancellationError())
    _ = element
  }

  /// Ends the stream after the elements that were sent.
  ///
  /// Only the first call counts.
  func finish(throwing error: (any Error)? = nil) {
    let (started, waiting, ended) = locked {
      guard !isOver else { return (.none, [], []) as (Start, [Reader], [Sender]) }
      let started = start
      start = .none
      isOver = true
      let waiting = readers.takeAll()
      // A reader that waits gets the error now.
      failure = waiting.isEmpty ? error : nil
      return (started, waiting, end())
    }
    _ = started
    resume(ended)
    for (at, reader) in waiting.enumerated() {
      if at == 0, let error {
        reader.continuation?.resume(throwing: error)
      } else {
        reader.continuation?.resume(returning: nil)
      }
    }
  }

  /// Ends the stream because its reader is gone.
  ///
  /// Drops the elements that wait, and cancels the producer.
  func cancel() {
    // `started` and `left` outlive the lock, because values of the application may run code when
    // they are destroyed.
    let (started, ended, waiting, left) = locked {
      let started = start
      isOver = true
      failure = nil
      start = .none
      return (started, end(), readers.takeAll(), items.takeAll())
    }
    if case .running(let task) = started { task.cancel() }
    resume(ended)
    for reader in waiting { reader.continuation?.resume(returning: nil) }
    _ = left
  }

  private func end() -> [Sender] {
    let ended = senders.takeAll()
    for sender in ended { sender.outcome = .failure(Self.gone) }
    lock.wakeAll()
    return ended
  }

  private func resume(_ ended: [Sender]) {
    for sender in ended { sender.continuation?.resume(throwing: Self.gone) }
  }

  // MARK: Reading

  private enum Reading {
    case element(Element, freed: CheckedContinuation<Void, any Error>?)
    case end((any Error)?)
    case wait
  }

  private func read() -> Reading {
    if let element = items.popFirst() {
      guard let sender = senders.popFirst(), let next = sender.element else {
        return .element(element, freed: nil)
      }
      items.append(next)
      sender.element = nil
      sender.outcome = .success(())
      let continuation = sender.continuation
      sender.continuation = nil
      if continuation == nil { lock.wakeAll() }
      return .element(element, freed: continuation)
    }
    guard isOver else { return .wait }
    let error = failure
    failure = nil
    return .end(error)
  }

  private func startProducer() {
    let begin = locked {
      guard case .idle(let begin) = start else {
        return nil as (@Sendable () -> Task<Void, Never>)?
      }
      start = .none
      return begin
    }
    guard let task = begin?() else { return }
    let isLate = locked {
      if !isOver { start = .running(task) }
      return isOver
    }
    if isLate { task.cancel() }
  }

  func next(isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
    try Task.checkCancellation()
    startProducer()
    let handle = Shared(Reader())
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let reading: Reading = locked {
          if let early = handle.value.early { return .end(early) }
          let reading = read()
          if case .wait = reading {
            handle.value.continuation = continuation
            readers.append(handle.value)
          }
          return reading
        }
        switch reading {
        case .element(let element, let freed):
          freed?.resume()
          continuation.resume(returning: Handle(element))
        case .end(let error?): continuation.resume(throwing: error)
        case .end(nil): continuation.resume(returning: nil)
        case .wait: break
        }
      }
    } onCancel: {
      stopWaiting(handle.value)
    }?.element
  }

  private func stopWaiting(_ reader: Reader) {
    let continuation = locked {
      readers.removeAll { $0 === reader }
      let continuation = reader.continuation
      reader.continuation = nil
      if continuation == nil { reader.early = CancellationError() }
      return continuation
    }
    continuation?.resume(throwing: CancellationError())
  }

  /// Moves an element to its reader.
  ///
  /// The sender has given it up (`sending`).
  struct Handle: @unchecked Sendable {
    let element: Element

    init(_ element: Element) { self.element = element }
  }

  /// Carries a sender or a reader to a cancellation handler.
  ///
  /// The buffer's lock protects its fields.
  private struct Shared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
}
