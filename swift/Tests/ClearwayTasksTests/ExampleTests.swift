// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayTasks
import Testing

@Suite("The examples of docs/tasks.md", .timeLimit(.minutes(2)))
struct ExampleTests {
  private func checksum(_ bytes: [UInt8], while isWanted: () -> Bool) -> Int {
    bytes.reduce(0) { isWanted() ? $0 + Int($1) : $0 }
  }

  @Test("run")
  func run() async throws {
    let bytes = [UInt8](repeating: 2, count: 1000)
    // #region pool
    let pool = try WorkPool(.init(threads: 2, queueMax: 100, whenFull: .fail))
    let sum = try await pool.run(moving: bytes, deadline: .seconds(60)) { bytes, signal in
      checksum(bytes, while: { !signal.isCancelled })
    }
    // #endregion pool
    #expect(sum == 2000)
    // #region stream
    let squares = try CreditStream(itemsMax: 16) { sink in
      for number in 1...1000 { try await sink.send(number * number) }
    }
    var total = 0
    for try await square in squares { total += square }
    // #endregion stream
    #expect(total == 333_833_500)
    // #region deadline
    let answer = try await withDeadline(.seconds(60)) { try await pool.run { _ in 42 } }
    // #endregion deadline
    #expect(answer == 42)
    try await pool.close()
  }
}
