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

  private let each: Int
  private let bytesMax: Int
  private let keptMs: Int64
  /// The entries of each channel that has some, oldest first.
  private var buffers: [String: Deque<Kept>] = [:]
  private var bytes = 0

  init(each: Int, bytesMax: Int, keptMs: Int64) {
    self.each = each
    self.bytesMax = bytesMax
    // A sum with the time must not overflow.
    self.keptMs = min(keptMs, 1 << 40)
  }

  /// Keeps an entry. Returns the entries that were dropped: old ones, the new one, or both.
  mutating func add(_ name: String, _ entry: Entry, _ size: Int, _ nowMs: Int64) -> [Entry] {
    if each == 0 || size > bytesMax { return [entry] }
    var dropped: [Entry] = []
    while let buffer = buffers[name], buffer.count >= each || bytes + size > bytesMax {
      dropped += shift(name, 1) { _ in true }
    }
    // Messages of other channels are never dropped to make room.
    if bytes + size > bytesMax { return dropped + [entry] }
    buffers[name, default: Deque()].append(
      Kept(entry: entry, bytes: size, untilMs: nowMs + keptMs))
    bytes += size
    return dropped
  }

  /// Removes and returns all entries of a channel, oldest first.
  mutating func take(_ name: String) -> [Entry] { shift(name) { _ in true } }

  mutating func remove(_ name: String, _ entry: Entry) {
    guard let kept = buffers[name]?.remove(where: { $0.entry === entry }) else { return }
    bytes -= kept.bytes
    if buffers[name]?.isEmpty == true { buffers[name] = nil }
  }

  /// Removes and returns the entries that have expired.
  mutating func expire(_ nowMs: Int64) -> [Entry] {
    buffers.keys.flatMap { name in shift(name) { $0.untilMs <= nowMs } }
  }

  /// When the next entry expires; nil without an entry.
  var nextMs: Int64? { buffers.values.compactMap { $0.first?.untilMs }.min() }

  private mutating func shift(_ name: String, _ most: Int = .max, _ matches: (Kept) -> Bool)
    -> [Entry]
  {
    var taken: [Entry] = []
    while taken.count < most, let first = buffers[name]?.first, matches(first) {
      _ = buffers[name]?.popFirst()
      bytes -= first.bytes
      taken.append(first.entry)
    }
    if buffers[name]?.isEmpty == true { buffers[name] = nil }
    return taken
  }
}
