// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel
import ClearwayThreads

/// One reference to memory that Swift and a plugin use without a copy.
///
/// The value owns its reference and cannot be copied. The end of its life releases the reference,
/// and so does ``release()``; when the last reference is released, the memory returns to its pool
/// or to its owner. The bytes are lent in scopes. Do not keep their pointers.
///
/// Any thread may use the value. Swift and the plugin see the same bytes at the same time: agree on
/// who writes.
public struct NativeMemory: ~Copyable, @unchecked Sendable {
  let library: Library
  let handle: clearway_memory
  private let base: UnsafeMutablePointer<UInt8>

  /// The number of bytes.
  public let size: Int

  /// Takes over the reference of a view.
  init(_ library: Library, owning view: clearway_view) {
    self.library = library
    handle = view.memory
    base = view.data
    size = view.size
  }

  deinit { _ = library.c.pointee.memory_release(handle) }

  /// Lends the bytes during `body`.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: base, count: size))
  }

  /// Lends the bytes for writing during `body`.
  ///
  /// Must not be used for sealed memory: other holders rely on its bytes, and the memory may be read-only.
  public borrowing func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeMutableRawBufferPointer(start: base, count: size))
  }

  /// Returns another reference to the same memory.
  ///
  /// Throws `out-of-memory` if there are no handles left.
  public borrowing func retain() throws(ClearwayError) -> NativeMemory {
    NativeMemory(library, owning: try Self.retained(library, handle))
  }

  /// Promises that no thread writes to the memory any more.
  ///
  /// Cannot be undone.
  public borrowing func seal() throws(ClearwayError) {
    let status = library.c.pointee.memory_seal(handle)
    guard status == CLEARWAY_OK else { throw error(status, "seal") }
  }

  /// Releases the reference now.
  public consuming func release() {}

  /// Makes another reference to a memory, which the caller owns.
  static func retained(
    _ library: Library, _ memory: clearway_memory
  ) throws(ClearwayError) -> clearway_view {
    var another = clearway_memory()
    var status = library.c.pointee.memory_retain(memory, &another)
    guard status == CLEARWAY_OK else { throw error(status, "retain") }
    var view = clearway_view()
    status = library.c.pointee.memory_view(another, &view)
    guard status == CLEARWAY_OK else {
      _ = library.c.pointee.memory_release(another)
      throw error(status, "view")
    }
    view.memory = another
    return view
  }
}

/// Memory of Swift that a plugin may borrow without a copy.
///
/// ``Plugin/lend(_:)`` keeps the buffer alive until native code has returned it, however long that
/// takes.
public final class HostBuffer: @unchecked Sendable {
  private struct State: Sendable {
    var loans = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let bytes: UnsafeMutableRawBufferPointer
  private let state = Locked(State())

  /// The number of bytes.
  public var size: Int { bytes.count }

  /// Allocates zeroed memory, aligned to 64 bytes.
  ///
  /// Throws `invalid-argument` for a negative size.
  public init(size: Int) throws(ClearwayError) {
    guard size >= 0, size <= 1 << 40 else { throw invalid("size", mustBe: "0 to \(1 << 40)", size) }
    bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { bytes.deallocate() }

  /// Lends the bytes during `body`.
  public func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(bytes)
  }

  /// The number of loans that native code has not returned.
  public var loans: Int { state.with { $0.loans } }

  /// Waits until native code has returned every loan.
  ///
  /// Does not return early if the task is cancelled.
  public func returned(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      let isFree = state.with { state in
        if state.loans > 0 { state.waiting.append(continuation) }
        return state.loans == 0
      }
      if isFree { continuation.resume() }
    }
  }

  func lent() { state.with { $0.loans += 1 } }

  func cameBack() {
    let waiting = state.with { state in
      state.loans -= 1
      guard state.loans == 0 else { return [] as [CheckedContinuation<Void, Never>] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
