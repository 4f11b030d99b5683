// SPDX-License-Identifier: MIT OR Apache-2.0

/// What a codec accepts at most.
public struct CodecLimits: Sendable, Equatable {
  /// The deepest nesting that this host supports. Values are freed recursively, on small stacks, too.
  public static let deepest = 1_000

  /// The number of lists and maps that may be inside each other.
  public let depthMax: Int
  /// The number of values that the counts of one message may announce. A map's entry counts as two.
  public let itemsMax: Int

  /// Makes limits. Throws ``ClearwayError/Code/invalidArgument`` for a limit out of its range.
  public init(depthMax: Int = 128, itemsMax: Int = 16_777_216) throws(ClearwayError) {
    try check("depthMax", depthMax, in: 1...Self.deepest)
    try check("itemsMax", itemsMax, in: 1...Int.max)
    self.init(validDepth: depthMax, items: itemsMax)
  }

  init(validDepth: Int, items: Int) {
    depthMax = validDepth
    itemsMax = items
  }

  /// The limits of `spec/wire.md`.
  public static let standard = CodecLimits(validDepth: 128, items: 16_777_216)
}

/// Throws ``ClearwayError/Code/invalidArgument`` with the name and the value if it is out of range.
func check<N: BinaryInteger>(_ name: String, _ value: N, in range: ClosedRange<N>)
  throws(ClearwayError)
{
  if range.contains(value) { return }
  let most = range.upperBound == N(Int.max) ? "" : " and at most \(range.upperBound)"
  throw ClearwayError(
    .invalidArgument, "\(name) must be at least \(range.lowerBound)\(most): \(name)=\(value)")
}
