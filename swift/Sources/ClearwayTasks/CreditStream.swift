// SPDX-License-Identifier: MIT OR Apache-2.0

/// A stream whose producer waits until its reader takes elements.
///
/// `AsyncStream` has no back-pressure: its `yield` never suspends, so a fast producer fills the
/// memory or loses elements. `AsyncStream(unfolding:)` produces nothing before the reader asks. A
/// credit stream lets the producer run ahead by `itemsMax` elements and then suspends it.
///
/// ```swift
/// let lines = try CreditStream(itemsMax: 16) { sink in
///   for line in try readLines(file) { try await sink.send(line) }
/// }
/// for try await line in lines { await show(line) }
/// ```
///
/// Elements move from the producer to the reader (`sending`), and need not be `Sendable`. If
/// several tasks read, each element reaches one of them. The stream ends when the stream and its
/// iterators have no references any more.
public struct CreditStream<Element>: AsyncSequence {
  public typealias Failure = any Error

  private let reader: Reader

  /// Makes a stream whose producer starts when the first element is read.
  ///
  /// The producer runs in a task of its own. The stream ends when it returns, and throws its error
  /// once. When the reader is gone, that task is cancelled and `send` throws.
  ///
  /// - Parameters:
  ///   - itemsMax: Number of elements that may wait: 1 to 1,000,000.
  ///   - whenFull: The policy for further elements. With ``WorkPool.WhenFull/fail``, the stream
  ///     ends with `overflow`.
  /// - Throws: A ``TaskError`` with `invalid-argument`.
  public init(
    of type: Element.Type = Element.self, itemsMax: Int = 16, whenFull: WorkPool.WhenFull = .wait,
    _ produce: @escaping @Sendable (CreditSink<Element>) async throws -> Void
  ) throws {
    let buffer = try CreditBuffer<Element>(itemsMax: itemsMax, whenFull: whenFull)
    // The producer's task must not keep the reader, and the buffer must not keep the task's own
    // reference to it.
    buffer.startsLazily { [weak buffer] in
      guard let buffer else { return Task {} }
      let sink = CreditSink(buffer)
      return Task {
        do {
          try await produce(sink)
          sink.finish()
        } catch {
          sink.finish(throwing: error)
        }
      }
    }
    reader = Reader(buffer)
  }

  private init(_ buffer: CreditBuffer<Element>) { reader = Reader(buffer) }

  /// Makes a stream and the sink that feeds it.
  ///
  /// The stream ends when the sink has no references any more.
  ///
  /// - Throws: A ``TaskError`` with `invalid-argument`.
  public static func makeStream(
    of type: Element.Type = Element.self, itemsMax: Int = 16, whenFull: WorkPool.WhenFull = .wait
  ) throws -> (stream: CreditStream, sink: CreditSink<Element>) {
    let buffer = try CreditBuffer<Element>(itemsMax: itemsMax, whenFull: whenFull)
    return (CreditStream(buffer), CreditSink(buffer))
  }

  /// The number of elements that were dropped from the full buffer.
  public var dropped: Int { reader.buffer.dropped }

  /// Ends the stream.
  ///
  /// Drops the elements that wait, and cancels the producer.
  public func cancel() { reader.buffer.cancel() }

  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reader: Reader

    /// Waits for the next element.
    ///
    /// Returns nil at the end.
    ///
    /// - Throws: The producer's error, once, after the elements before it; `CancellationError` if
    ///   the task is cancelled, which does not end the stream.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws
      -> Element?
    {
      try await reader.buffer.next(isolation: actor)
    }

    public mutating func next() async throws -> Element? { try await next(isolation: nil) }
  }

  /// Ends the stream when its last reference is gone.
  fileprivate final class Reader: Sendable {
    let buffer: CreditBuffer<Element>

    init(_ buffer: CreditBuffer<Element>) { self.buffer = buffer }

    deinit { buffer.cancel() }
  }
}

extension CreditStream: Sendable where Element: Sendable {}

/// The producer's end of a ``CreditStream``.
///
/// Any task may send.
public final class CreditSink<Element>: Sendable {
  let buffer: CreditBuffer<Element>

  init(_ buffer: CreditBuffer<Element>) { self.buffer = buffer }

  deinit { buffer.finish() }

  /// Sends an element, and waits while the buffer is full.
  ///
  /// - Throws: `CancellationError`, and the element is dropped; a ``TaskError`` with `released` if
  ///   the stream has ended or its reader is gone, and with `overflow` under
  ///   ``WorkPool.WhenFull/fail``.
  public func send(_ element: sending Element, isolation: isolated (any Actor)? = #isolation)
    async throws
  {
    try await buffer.send(element, isolation: isolation)
  }

  /// Ends the stream after the elements that were sent.
  ///
  /// Only the first call counts.
  public func finish(throwing error: (any Error)? = nil) { buffer.finish(throwing: error) }
}

/// The end of a ``CreditStream`` for work that blocks a pool's thread.
///
/// Do not keep it after the work has returned.
public final class BlockingSink<Element>: Sendable {
  private let buffer: CreditBuffer<Element>
  private let signal: WorkSignal

  init(_ buffer: CreditBuffer<Element>, _ signal: WorkSignal) {
    self.buffer = buffer
    self.signal = signal
  }

  /// Sends an element, and blocks the thread while the buffer is full.
  ///
  /// - Throws: `CancellationError` if the call was cancelled; a ``TaskError`` with `released` if
  ///   the reader is gone, and with `overflow` under ``WorkPool.WhenFull/fail``.
  public func send(_ element: sending Element) throws {
    try signal.check()
    do {
      // If the call is cancelled, its failure ends the stream, which wakes this thread.
      try buffer.sendBlocking(element)
    } catch {
      try signal.check()
      throw error
    }
  }
}

extension WorkPool {
  /// Returns a stream that work on a thread of the pool feeds.
  ///
  /// The work starts when the first element is read. It blocks its thread while `itemsMax` elements
  /// wait. When the reader is gone, the work's signal is cancelled and `send` throws.
  ///
  /// - Throws: A ``TaskError`` with `invalid-argument`. The stream throws the errors of
  ///   ``run(deadline:isolation:_:)``.
  public func stream<Element>(
    of type: Element.Type = Element.self, itemsMax: Int = 16, whenFull: WorkPool.WhenFull = .wait,
    _ produce: @escaping @Sendable (BlockingSink<Element>, WorkSignal) throws -> Void
  ) throws -> CreditStream<Element> {
    try CreditStream(itemsMax: itemsMax, whenFull: whenFull) { sink in
      let buffer = sink.buffer
      try await self.run { signal in try produce(BlockingSink(buffer, signal), signal) }
    }
  }
}
