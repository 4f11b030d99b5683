// SPDX-License-Identifier: MIT OR Apache-2.0

/// A batch of warm fills covers this many bytes, because a clock reading takes as long as a small
/// fill.
private let batchBytes = 1 << 18

/// Measures fills of one size, one after another, in memory that was filled before, or that each fill
/// allocates.
func measureFills(_ cell: Cell) throws -> Measured {
  let size = try cell.int("bytes", atLeast: 1)
  guard size <= 1 << 30 else { throw LabError("more than 1 GB: bytes=\(size)") }
  let isFresh = try cell.text("memory", among: ["warm", "fresh"]) == "fresh"
  let repetitions = try cell.int("repetitions", atLeast: 1)
  guard repetitions <= 100_000 else {
    throw LabError("more than 100000 repetitions: repetitions=\(repetitions)")
  }
  let limitNs = Int64(try cell.number("timeMsMax") * 1e6)
  let batch = isFresh ? 1 : max(1, batchBytes / size)
  let filler = try Fillers.open(cell.mechanism, size: size)
  for value in 0..<4 { try filler.fill(UInt8(value)) }
  let end = nowNs() + limitNs
  var ns: [Int64] = []
  var value: UInt8 = 0
  while ns.count < repetitions, ns.isEmpty || nowNs() < end {
    value = UInt8(truncatingIfNeeded: ns.count)
    let begin = nowNs()
    if isFresh { try filler.renew() }
    for _ in 0..<batch { try filler.fill(value) }
    ns.append((nowNs() - begin) / Int64(batch))
  }
  return Measured(
    samples: ["fill": Samples(unit: "us", ns: ns, batch: batch)],
    result: .object(["filled": .bool(filler.holds(value))]))
}
