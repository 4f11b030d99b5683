// SPDX-License-Identifier: MIT OR Apache-2.0
// What the handshake of a WebSocket needs (RFC 6455, 4.2.2). It protects nothing.

/// Returns the SHA-1 digest of bytes (RFC 3174).
func sha1(_ bytes: [UInt8]) -> [UInt8] {
  var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
  let bits = UInt64(bytes.count) * 8
  var padded = bytes + [0x80]
  while padded.count % 64 != 56 { padded.append(0) }
  padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
  for block in stride(from: 0, to: padded.count, by: 64) {
    var words = (0..<16).map { word in
      padded[(block + 4 * word)..<(block + 4 * word + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for at in 16..<80 {
      words.append(rotated(words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16], 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for at in 0..<80 {
      let (mixed, constant): (UInt32, UInt32) =
        switch at {
        case ..<20: (b & c | ~b & d, 0x5a82_7999)
        case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
        case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
        default: (b ^ c ^ d, 0xca62_c1d6)
        }
      let next = rotated(a, 5) &+ mixed &+ e &+ constant &+ words[at]
      (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
    }
    for (at, part) in [a, b, c, d, e].enumerated() { state[at] &+= part }
  }
  return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
}

private func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 {
  word << bits | word >> (32 - bits)
}

/// Returns the base64 text of bytes.
func base64(_ bytes: [UInt8]) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var text: [UInt8] = []
  for from in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[from..<min(from + 3, bytes.count)]
    let value = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let bits = value << UInt32(8 * (3 - group.count))
    for place in 0..<4 {
      let isPadding = place > group.count
      text.append(
        isPadding ? UInt8(ascii: "=") : digits[Int(bits >> UInt32(18 - 6 * place)) & 63])
    }
  }
  return String(decoding: text, as: UTF8.self)
}
