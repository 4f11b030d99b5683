// SPDX-License-Identifier: MIT OR Apache-2.0

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
