// SPDX-License-Identifier: MIT OR Apache-2.0
import CClearway
import ClearwayChannel

/// A message of a plugin: its bytes or null, and attached memories.
///
/// The value owns the native memory behind it and cannot be copied. The end of its life releases
/// that memory.
public struct PluginMessage: ~Copyable, @unchecked Sendable {
  private let library: Library
  private let event: clearway_event
  /// The message's own reference to its memory, if no event holds the memory.
  ///
  /// Else 0.
  private let retained: clearway_memory

  /// Takes over an event, which the value releases.
  init(_ library: Library, owning event: clearway_event) {
    self.library = library
    self.event = event
    retained = clearway_memory()
  }

  /// Takes over a reference to a memory, whose bytes are the message.
  init(_ library: Library, owning view: clearway_view) {
    self.library = library
    var event = clearway_event()
    event.content.data = UnsafePointer(view.data)
    event.content.size = view.size
    event.content.memory = view.memory
    self.event = event
    retained = view.memory
  }

  deinit {
    var event = event
    if event.held != 0 { _ = library.c.pointee.event_release(&event) }
    if retained.handle != 0 { _ = library.c.pointee.memory_release(retained) }
  }

  /// Whether this is the null message.
  ///
  /// It differs from a message of 0 bytes.
  public var isNull: Bool { event.content.isNull }

  /// The number of bytes.
  ///
  /// It is also 0 for the null message.
  public var size: Int { event.content.size }

  /// Lends the bytes during `body`.
  ///
  /// They are empty for the null message.
  public borrowing func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: event.content.data, count: event.content.size))
  }

  /// A copy of the bytes.
  ///
  /// Nil for the null message.
  public var bytes: [UInt8]? { isNull ? nil : withUnsafeBytes { Array($0) } }

  /// The number of attached memories.
  public var attachmentCount: Int { event.content.attachments_count }

  /// Returns a reference of its own to an attached memory.
  ///
  /// Throws `invalid-argument` for an index out of range.
  public borrowing func attachment(at index: Int) throws(ClearwayError) -> NativeMemory {
    try event.content.attachment(at: index, library)
  }

  /// Returns a reference of its own to the memory that contains the bytes.
  ///
  /// Nil if they are not in a memory. The memory may be larger than the message.
  public borrowing func memory() throws(ClearwayError) -> NativeMemory? {
    try event.content.memory(library)
  }

  /// Releases the native memory now.
  public consuming func release() {}
}

/// An event of a plugin's stream.
///
/// Its native memory is released with the last reference.
public final class PluginEvent: @unchecked Sendable {
  // A class, because elements of an `AsyncSequence` must be copyable in Swift 6.0. Nothing in it
  // changes.
  private let library: Library
  private let event: clearway_event

  /// Takes over an event, which the object releases.
  init(_ library: Library, owning event: clearway_event) {
    self.library = library
    self.event = event
  }

  deinit {
    var event = event
    if event.held != 0 { _ = library.c.pointee.event_release(&event) }
  }

  /// The number of events that the stream has dropped right before this one.
  public var dropped: Int { Int(clamping: event.dropped) }

  /// Whether this is the null message.
  ///
  /// It differs from a message of 0 bytes.
  public var isNull: Bool { event.content.isNull }

  /// The number of bytes.
  public var size: Int { event.content.size }

  /// Lends the bytes during `body`.
  ///
  /// They are empty for the null message.
  public func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: event.content.data, count: event.content.size))
  }

  /// A copy of the bytes.
  ///
  /// Nil for the null message.
  public var bytes: [UInt8]? { isNull ? nil : withUnsafeBytes { Array($0) } }

  /// The number of attached memories.
  public var attachmentCount: Int { event.content.attachments_count }

  /// Returns a reference of its own to an attached memory.
  ///
  /// Throws `invalid-argument` for an index out of range.
  public func attachment(at index: Int) throws(ClearwayError) -> NativeMemory {
    try event.content.attachment(at: index, library)
  }

  /// Returns a reference of its own to the memory that contains the bytes.
  ///
  /// Nil if they are not in a memory. The memory may be larger than the event.
  public func memory() throws(ClearwayError) -> NativeMemory? { try event.content.memory(library) }
}

extension clearway_content {
  fileprivate var isNull: Bool { data == nil && memory.handle == 0 }

  fileprivate func memory(_ library: Library) throws(ClearwayError) -> NativeMemory? {
    guard memory.handle != 0 else { return nil }
    return NativeMemory(library, owning: try NativeMemory.retained(library, memory))
  }

  fileprivate func attachment(
    at index: Int, _ library: Library
  ) throws(ClearwayError) -> NativeMemory {
    guard index >= 0, index < attachments_count, let attachments else {
      throw invalid("index", mustBe: "less than \(attachments_count), and 0 or more", index)
    }
    return NativeMemory(library, owning: try NativeMemory.retained(library, attachments[index]))
  }
}
