// SPDX-License-Identifier: MIT OR Apache-2.0

/// Measures one codec with one value: encodes and decodes many times on one thread, and sends
/// nothing.
func measureCodec(_ cell: Cell) throws -> Measured {
  let name = try cell.text("value", among: Payload.names)
  let batches = try cell.int("batches", atLeast: 1)
  let codec = try LabCodecs.named(cell.mechanism, value: Payload.named(name), valueName: name)
  let message = try codec.encode()
  let isEqual = try codec.isEqual(message)
  let encodeUs = try timeUs(batches: batches) { keep(try codec.encode()) }
  let decodeUs = try timeUs(batches: batches) { try codec.decode(message) }
  return Measured(
    values: [
      "encode": Figure(unit: "us", value: encodeUs), "decode": Figure(unit: "us", value: decodeUs),
      "both": Figure(unit: "us", value: encodeUs + decodeUs),
      "messageBytes": Figure(unit: "bytes", value: Double(message.count)),
    ],
    result: .object(["equal": .bool(isEqual)]))
}

/// Minimum duration of a batch, in nanoseconds: two thousand steps of a clock with steps of 50
/// ns.
private let batchNsMin: Int64 = 100_000
private let warmUpNs: Int64 = 100_000_000

/// Returns the time of one call in microseconds: the median of `batches` batches, each long
/// enough for the clock.
private func timeUs(batches: Int, _ call: () throws -> Void) rethrows -> Double {
  func batchNs(_ count: Int) throws -> Int64 {
    let begin = nowNs()
    for _ in 0..<count { try call() }
    return nowNs() - begin
  }
  var count = 1
  let begin = nowNs()
  while nowNs() - begin < warmUpNs {
    if try batchNs(count) < batchNsMin { count *= 2 }
  }
  let times = try (0..<batches).map { _ in try batchNs(count) }.sorted()
  return Double(times[times.count / 2]) / Double(count) / 1000
}
