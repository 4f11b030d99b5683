// SPDX-License-Identifier: MIT OR Apache-2.0
/// The source's credit: the events and bytes that it may still send.
///
/// It may send while both numbers are above zero, so one event may take the bytes below zero.
struct SendCredit {
  private var items: Int64 = 0
  private var bytes: Int64 = 0
  private static let most = Int64.max / 4

  mutating func grant(_ items: Int64, _ bytes: Int64) {
    self.items = min(self.items + items, Self.most)
    self.bytes = min(self.bytes + bytes, Self.most)
  }

  mutating func spend(_ bytes: Int64) {
    items -= 1
    self.bytes -= bytes
  }

  var maySend: Bool { items > 0 && bytes > 0 }
}

/// The listener's credit: what it has granted, and what was taken since the last grant.
struct ReceiveCredit {
  private let items: Int64
  private let bytes: Int64
  private var out = SendCredit()
  private var owedItems: Int64 = 0
  private var owedBytes: Int64 = 0

  init(items: Int, bytes: Int) {
    self.items = Int64(items)
    self.bytes = Int64(bytes)
    out.grant(self.items, self.bytes)
  }

  /// Counts an event that arrived. Returns false if the source had no credit for it.
  mutating func arrived(_ bytes: Int64) -> Bool {
    if !out.maySend { return false }
    out.spend(bytes)
    return true
  }

  /// Counts an event that was taken. Returns a grant when half of the window was taken. The source
  /// may use it once it is `sent`.
  mutating func taken(_ size: Int64) -> (items: UInt32, bytes: UInt32)? {
    owedItems += 1
    owedBytes += size
    if owedItems * 2 < items, owedBytes * 2 < bytes { return nil }
    defer { (owedItems, owedBytes) = (0, 0) }
    return (UInt32(clamping: owedItems), UInt32(clamping: owedBytes))
  }

  mutating func sent(_ grant: (items: UInt32, bytes: UInt32)) {
    out.grant(Int64(grant.items), Int64(grant.bytes))
  }
}
