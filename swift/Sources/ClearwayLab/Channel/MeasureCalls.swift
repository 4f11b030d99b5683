// SPDX-License-Identifier: MIT OR Apache-2.0
import Dispatch

private let lanes = 3

/// Measures one row with one mechanism: round trips one at a time, and three in flight if the
/// mechanism can.
func measureCalls(_ cell: Cell) throws -> Measured {
  let row = try Row(cell)
  let messages = try cell.int("messages", atLeast: 1)
  guard messages <= 100_000 else {
    throw LabError("more than 100000 messages: messages=\(messages)")
  }
  let warmUpNs = Int64(try cell.number("warmUpMs") * 1e6)
  let mechanism = cell.mechanism
  return try waitFor {
    let caller = try await Callers.open(mechanism, row)
    do {
      let measured = try await measure(caller, messages: messages, warmUpNs: warmUpNs)
      await caller.close()
      return measured
    } catch {
      await caller.close()
      throw error
    }
  }
}

private func measure(_ caller: any Caller, messages: Int, warmUpNs: Int64) async throws -> Measured
{
  let begin = nowNs()
  var isEqual = try await caller.call(isChecked: true)
  var calls = 0
  while nowNs() - begin < warmUpNs, calls < 2000 {
    _ = try await caller.call(isChecked: false)
    calls += 1
  }
  var measured = Measured(result: .null)
  measured.samples["roundTrip"] = Samples(
    unit: "us", ns: try await trips(caller, messages, batch: caller.batch), batch: caller.batch)
  if caller.isConcurrent {
    let begin = nowNs()
    let each = messages / lanes + 1
    let ns = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for _ in 0..<lanes { group.addTask { try await trips(caller, each) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    measured.samples["roundTripOfThree"] = Samples(unit: "us", ns: ns)
    measured.values["perMessageOfThree"] = Figure(
      unit: "us", value: Double(nowNs() - begin) / 1000 / Double(ns.count))
  }
  isEqual = try await caller.call(isChecked: true) && isEqual
  measured.result = .object(["equal": .bool(isEqual)])
  return measured
}

private func trips(_ caller: any Caller, _ count: Int, batch: Int = 1) async throws -> [Int64] {
  var ns: [Int64] = []
  ns.reserveCapacity(count)
  for _ in 0..<count {
    let begin = nowNs()
    for _ in 0..<batch { _ = try await caller.call(isChecked: false) }
    ns.append((nowNs() - begin) / Int64(batch))
  }
  return ns
}

/// Blocks the thread until a task has done the work.
private func waitFor<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws
  -> Result
{
  let box = Box<Result>()
  Task.detached {
    do { box.result = .success(try await work()) } catch { box.result = .failure(error) }
    box.isDone.signal()
  }
  box.isDone.wait()
  guard let result = box.result else { throw LabError("the task had no result") }
  return try result.get()
}

/// The task writes before the signal, and the thread reads after it.
private final class Box<Result>: @unchecked Sendable {
  var result: Swift.Result<Result, any Error>?
  let isDone = DispatchSemaphore(value: 0)
}
