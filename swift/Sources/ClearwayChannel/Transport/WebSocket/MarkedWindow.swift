// SPDX-License-Identifier: MIT OR Apache-2.0

/// The sender's side of back-pressure by marks (`spec/websocket.md`). Sends nothing itself.
struct MarkedWindow {
  private let windowBytes: Int
  private var sentBytes = 0
  private var marked = 0
  private var takenBytes = 0
  /// Whether a window's worth of frames was sent and not taken.
  private(set) var isFull = false

  init(windowBytes: Int) { self.windowBytes = windowBytes }

  /// Counts a frame. Returns the mark to send after it, or nil if none is due.
  mutating func sent(_ weight: Int) -> Int? {
    sentBytes += weight
    if sentBytes - takenBytes >= windowBytes { isFull = true }
    if (sentBytes - marked) * 2 < windowBytes { return nil }
    marked = sentBytes
    return marked
  }

  /// Handles a reply to a mark. Returns false for a number that is no new reply.
  mutating func taken(_ total: Int) -> Bool {
    if total <= takenBytes || total > marked { return false }
    takenBytes = total
    if (sentBytes - total) * 2 <= windowBytes { isFull = false }
    return true
  }

  static func markText(_ total: Int) -> [UInt8] { Array("mark \(total)".utf8) }
  static func takenText(_ total: Int) -> [UInt8] { Array("taken \(total)".utf8) }
}
