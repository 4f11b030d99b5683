// SPDX-License-Identifier: MIT OR Apache-2.0

/// Splits the bytes of a WebSocket into messages. Does no input or output.
///
/// The memory of a message grows as its bytes arrive, so an end that announces 64 MiB makes this one
/// allocate them only after it has sent most of them.
struct WebSocketReader: StreamReader {
  private let frameBytesMax: Int
  private let isMasked: Bool
  private let hasMarks: Bool
  private(set) var hasEnded = false

  /// The bytes of the current frame's header so far.
  private var header: [UInt8] = []
  /// The kind and the size of the current frame, once its header is complete.
  private var current: (kind: UInt8, isLast: Bool, size: Int, mask: UInt32)?
  private var body: [UInt8] = []
  /// The kind and the bytes of a message whose last fragment has not arrived.
  private var message: (kind: UInt8, bytes: [UInt8])?

  /// The weight of all binary messages so far, and the last mark.
  private var received = 0
  private var marked = 0

  private static let firstBytes = 1 << 16
  private static let growth = 16

  init(frameBytesMax: Int, isMasked: Bool, hasMarks: Bool) {
    self.frameBytesMax = frameBytesMax
    self.isMasked = isMasked
    self.hasMarks = hasMarks
  }

  var isInside: Bool { !header.isEmpty || message != nil }

  mutating func push(_ piece: UnsafeRawBufferPointer, _ take: (StreamEvent) -> Void) {
    var at = 0
    while !hasEnded, at < piece.count {
      if let current {
        let count = min(piece.count - at, current.size - body.count)
        if body.count + count > body.capacity {
          let wanted = max(body.count + count, body.capacity * Self.growth)
          body.reserveCapacity(min(current.size, wanted))
        }
        body.append(contentsOf: piece[at..<(at + count)])
        at += count
        if body.count == current.size { complete(take) }
      } else {
        header.append(piece[at])
        at += 1
        begin(take)
      }
    }
  }

  /// Reads the header when it is complete.
  private mutating func begin(_ take: (StreamEvent) -> Void) {
    guard header.count >= 2 else { return }
    let short = Int(header[1] & 0x7f)
    let sizeBytes = short == WebSocketLayout.short ? 2 : short == WebSocketLayout.long ? 8 : 0
    let hasMask = header[1] & WebSocketLayout.masked != 0
    guard header.count == 2 + sizeBytes + (hasMask ? 4 : 0) else { return }
    let (kind, isLast) = (header[0] & 0x0f, header[0] & WebSocketLayout.fin != 0)
    if header[0] & 0x70 != 0 { return refuse("a frame with an extension's flags", take) }
    if hasMask != isMasked {
      return refuse("a frame that is \(isMasked ? "not " : "")masked", take)
    }
    let size =
      sizeBytes == 0
      ? UInt64(short) : header[2..<(2 + sizeBytes)].reduce(0) { $0 << 8 | UInt64($1) }
    let most: Int
    switch kind {
    case WebSocketLayout.close, WebSocketLayout.ping, WebSocketLayout.pong:
      guard isLast, size <= UInt64(WebSocketLayout.controlBytesMax) else {
        return refuse("a control frame of \(size) bytes, or in fragments", take)
      }
      most = WebSocketLayout.controlBytesMax
    case WebSocketLayout.text, WebSocketLayout.binary:
      if message != nil { return refuse("a message inside another one", take) }
      most = kind == WebSocketLayout.text ? WebSocketLayout.textBytesMax : frameBytesMax
    case WebSocketLayout.more:
      guard let message else { return refuse("a fragment without a message", take) }
      let all = message.kind == WebSocketLayout.text ? WebSocketLayout.textBytesMax : frameBytesMax
      most = all - message.bytes.count
    default: return refuse("a frame of the unknown kind \(kind)", take)
    }
    if size > UInt64(most) {
      let isText = (kind == WebSocketLayout.more ? message?.kind : kind) == WebSocketLayout.text
      if isText { return refuse("text where bytes were expected", take) }
      return finish(
        CloseReason(
          .tooLarge,
          "a frame of \(size) bytes or more; the transport takes \(frameBytesMax) at most"
        ), take)
    }
    let mask = hasMask ? header.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } : 0
    current = (kind, isLast, Int(size), mask)
    body = []
    body.reserveCapacity(min(Int(size), Self.firstBytes))
    if size == 0 { complete(take) }
  }

  private mutating func complete(_ take: (StreamEvent) -> Void) {
    guard let current else { return }
    let bytes = current.mask == 0 ? body : applied(current.mask, to: body)
    body = []
    self.current = nil
    header.removeAll(keepingCapacity: true)
    switch current.kind {
    case WebSocketLayout.ping: take(.ping(bytes))
    case WebSocketLayout.pong: break
    case WebSocketLayout.close:
      guard let reason = CloseReason(webSocketBody: bytes) else {
        return refuse("a close frame without a valid text", take)
      }
      finish(reason, take)
    default:
      if message == nil {
        message = (current.kind, bytes)
      } else {
        message?.bytes.append(contentsOf: bytes)
      }
      guard current.isLast, let whole = message else { return }
      message = nil
      deliver(whole.kind, whole.bytes, take)
    }
  }

  private mutating func deliver(
    _ kind: UInt8, _ bytes: [UInt8], _ take: (StreamEvent) -> Void
  ) {
    if kind == WebSocketLayout.binary {
      received += weight(bytes)
      return take(.frame(bytes))
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if hasMarks {
      if let total = number(text, after: "mark "), total == received, total > marked {
        marked = total
        return take(.mark(total))
      }
      if let total = number(text, after: "taken ") { return take(.taken(total)) }
    }
    refuse("text where bytes were expected: \(text)", take)
  }

  private func number(_ text: String, after word: String) -> Int? {
    let digits = text.dropFirst(word.count)
    guard text.hasPrefix(word), (1...16).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(digits)
  }

  private mutating func refuse(_ message: String, _ take: (StreamEvent) -> Void) {
    finish(CloseReason(.protocolViolation, message), take)
  }

  private mutating func finish(_ reason: CloseReason, _ take: (StreamEvent) -> Void) {
    hasEnded = true
    take(.end(reason))
  }
}

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
