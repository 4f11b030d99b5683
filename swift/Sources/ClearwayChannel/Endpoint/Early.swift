// SPDX-License-Identifier: MIT OR Apache-2.0

/// The messages that arrived before their channel has a handler. Does no input or output.
///
/// The messages of each channel, the bytes of all and the time are limited. The methods return the
/// entries that were dropped or have expired, and the caller answers them.
struct Early<Entry: AnyObject> {
  private struct Kept {
    let entry: Entry
    let bytes: Int
    let untilMs: Int64
  }

  private struct Buffer {
    var max: Int
    var kept = Deque<Kept>()
  }

  private let each: Int
  private let bytesMax: Int
  private let keptMs: Int64
  private var buffers: [String: Buffer] = [:]
  private var bytes = 0

  /// The names of channels that are kept. A further name evicts one without messages.
  private static var buffersMax: Int { 1024 }

  init(each: Int, bytesMax: Int, keptMs: Int64) {
    self.each = each
    self.bytesMax = bytesMax
    // A sum with the time must not overflow.
    self.keptMs = min(keptMs, 1 << 40)
  }

  /// Keeps an entry. Returns the entries that were dropped: old ones, the new one, or both.
  mutating func add(_ name: String, _ entry: Entry, _ size: Int, _ nowMs: Int64) -> [Entry] {
    var buffer = buffer(name)
    if buffer.max == 0 || size > bytesMax { return [entry] }
    var dropped: [Entry] = []
    while buffer.kept.count >= buffer.max || (bytes + size > bytesMax && !buffer.kept.isEmpty) {
      if let first = buffer.kept.popFirst() {
        bytes -= first.bytes
        dropped.append(first.entry)
      }
    }
    // Messages of other channels are never dropped to make room.
    if bytes + size > bytesMax {
      dropped.append(entry)
    } else {
      buffer.kept.append(Kept(entry: entry, bytes: size, untilMs: nowMs + keptMs))
      bytes += size
    }
    buffers[name] = buffer
    return dropped
  }

  /// Removes and returns all entries of a channel, oldest first.
  mutating func take(_ name: String) -> [Entry] { shift(name) { _ in true } }

  mutating func remove(_ name: String, _ entry: Entry) {
    if let kept = buffers[name]?.kept.remove(where: { $0.entry === entry }) { bytes -= kept.bytes }
  }

  /// Sets how many entries of a channel are kept. Returns the oldest entries above that number.
  mutating func resize(_ name: String, _ max: Int) -> [Entry] {
    var buffer = buffer(name)
    buffer.max = max
    buffers[name] = buffer
    var excess = buffer.kept.count - max
    return shift(name) { _ in
      excess -= 1
      return excess >= 0
    }
  }

  /// Removes and returns the entries that have expired.
  mutating func expire(_ nowMs: Int64) -> [Entry] {
    buffers.keys.flatMap { name in shift(name) { $0.untilMs <= nowMs } }
  }

  /// When the next entry expires; nil without an entry.
  var nextMs: Int64? { buffers.values.compactMap { $0.kept.first?.untilMs }.min() }

  private mutating func buffer(_ name: String) -> Buffer {
    if let buffer = buffers[name] { return buffer }
    if buffers.count >= Self.buffersMax, let empty = buffers.first(where: { $0.value.kept.isEmpty })
    {
      buffers[empty.key] = nil
    }
    return Buffer(max: each)
  }

  private mutating func shift(_ name: String, _ matches: (Kept) -> Bool) -> [Entry] {
    var taken: [Entry] = []
    while let first = buffers[name]?.kept.first, matches(first) {
      _ = buffers[name]?.kept.popFirst()
      bytes -= first.bytes
      taken.append(first.entry)
    }
    return taken
  }
}
