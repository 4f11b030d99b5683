// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayThreads
import Testing

@testable import ClearwayTasks

@Suite("A credit stream", .timeLimit(.minutes(2)))
struct CreditStreamTests {
  @Test("delivers every element in order", arguments: [1, 16, 1000])
  func order(itemsMax: Int) async throws {
    let stream = try CreditStream(itemsMax: itemsMax) { sink in
      for number in 0..<20_000 { try await sink.send(number) }
    }
    var next = 0
    for try await number in stream {
      #expect(number == next)
      next += 1
    }
    #expect(next == 20_000)
  }

  @Test("suspends its producer while as many elements wait as it may hold")
  func backPressure() async throws {
    let sent = Locked(0)
    let stream = try CreditStream(itemsMax: 4) { sink in
      for number in 0..<100 {
        try await sink.send(number)
        sent.with { $0 += 1 }
      }
    }
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == 0)
    await until { sent.with { $0 } == 5 }
    for _ in 0..<1000 { await Task.yield() }
    #expect(sent.with { $0 } == 5)
    #expect(try await iterator.next() == 1)
    await until { sent.with { $0 } == 6 }
  }

  @Test("starts its producer when the first element is read")
  func lazy() async throws {
    let started = Locked(false)
    let stream = try CreditStream(of: Int.self) { _ in started.with { $0 = true } }
    for _ in 0..<100 { await Task.yield() }
    #expect(!started.with { $0 })
    for try await _ in stream {}
    #expect(started.with { $0 })
  }

  @Test("throws its producer's error once, after the elements before it")
  func failure() async throws {
    let stream = try CreditStream { sink in
      try await sink.send(1)
      throw Broken()
    }
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    await #expect(throws: Broken.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test("cancels its producer and drops its elements when nothing reads it any more")
  func readerGone() async throws {
    let census = Census()
    let end = Locked<(any Error)?>(nil)
    do {
      let stream = try CreditStream(itemsMax: 2) { sink in
        do {
          while true { try await sink.send(census.object()) }
        } catch {
          end.with { $0 = error }
          throw error
        }
      }
      for try await _ in stream { break }
    }
    await until { end.with { $0 } != nil }
    let error = end.with { $0 }
    #expect(error is CancellationError || (error as? TaskError)?.code == .released)
    await until { census.alive == 0 }
  }

  @Test("ends when its sink is gone")
  func sinkGone() async throws {
    var pair: (stream: CreditStream<Int>, sink: CreditSink<Int>)? = try CreditStream<Int>
      .makeStream()
    let stream = pair!.stream
    let reading = Task { try await stream.reduce(0, +) }
    try await pair!.sink.send(3)
    pair = nil
    #expect(try await reading.value == 3)
  }

  @Test("ends with overflow when its buffer is full and the policy is fail")
  func overflow() async throws {
    let (stream, sink) = try CreditStream<Int>.makeStream(itemsMax: 2, whenFull: .fail)
    try await sink.send(1)
    try await sink.send(2)
    #expect(await code { try await sink.send(3) } == .overflow)
    #expect(await code { try await sink.send(4) } == .released)
    var seen: [Int] = []
    #expect(await code { for try await number in stream { seen.append(number) } } == .overflow)
    #expect(seen == [1, 2])
  }

  @Test("drops and counts elements when its buffer is full and the policy says so")
  func drops() async throws {
    for (policy, left) in [(WorkPool.WhenFull.dropOldest, [3, 4]), (.dropNewest, [1, 2])] {
      let (stream, sink) = try CreditStream<Int>.makeStream(itemsMax: 2, whenFull: policy)
      for number in 1...4 { try await sink.send(number) }
      sink.finish()
      var seen: [Int] = []
      for try await number in stream { seen.append(number) }
      #expect(seen == left)
      #expect(stream.dropped == 2)
    }
  }

  @Test("throws CancellationError to a cancelled reader, and goes on for others")
  func cancelledReader() async throws {
    let (stream, sink) = try CreditStream<Int>.makeStream()
    let waiting = Task {
      var iterator = stream.makeAsyncIterator()
      return try await iterator.next()
    }
    for _ in 0..<20 { await Task.yield() }
    waiting.cancel()
    #expect(await isCancelled(waiting))
    try await sink.send(1)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
  }

  @Test("drops the element of a cancelled sender, and no other")
  func cancelledSender() async throws {
    let (stream, sink) = try CreditStream<Int>.makeStream(itemsMax: 1)
    try await sink.send(1)
    let waiting = Task { try await sink.send(2) }
    for _ in 0..<20 { await Task.yield() }
    waiting.cancel()
    #expect(await isCancelled(waiting))
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    try await sink.send(3)
    #expect(try await iterator.next() == 3)
  }

  @Test("gives each element to one of several readers, from several senders")
  func many() async throws {
    let (stream, sink) = try CreditStream<Int>.makeStream(itemsMax: 8)
    let readers = (0..<4).map { _ in
      Task {
        var seen: [Int] = []
        for try await number in stream { seen.append(number) }
        return seen
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for sender in 0..<4 {
        group.addTask { for number in 0..<2000 { try await sink.send(sender * 2000 + number) } }
      }
      try await group.waitForAll()
    }
    sink.finish()
    var all: [Int] = []
    for reader in readers { all += try await reader.value }
    #expect(all.sorted() == Array(0..<8000))
  }

  @Test("settles everything when it is cancelled at any moment", arguments: 0..<30)
  func anyMoment(yields: Int) async throws {
    let census = Census()
    do {
      let (stream, sink) = try CreditStream<Census.Counted>.makeStream(itemsMax: 2)
      let senders = (0..<3).map { _ in Task { while true { try await sink.send(census.object()) } }
      }
      let readers = (0..<3).map { _ in Task { for try await _ in stream {} } }
      for _ in 0..<yields { await Task.yield() }
      switch yields % 4 {
      case 0: stream.cancel()
      case 1: sink.finish(throwing: Broken())
      case 2: for task in senders { task.cancel() }
      default: for task in readers { task.cancel() }
      }
      for _ in 0..<yields { await Task.yield() }
      for task in senders { task.cancel() }
      for task in senders { _ = await task.result }
      sink.finish()
      for task in readers { _ = await task.result }
    }
    await until { census.alive == 0 }
  }

  @Test("blocks a pool's thread while as many elements wait as it may hold")
  func blocking() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let sent = Locked(0)
    let stream = try pool.stream(itemsMax: 4) { sink, _ in
      for number in 0..<1000 {
        try sink.send(number)
        sent.with { $0 += 1 }
      }
    }
    var next = 0
    for try await number in stream {
      #expect(number == next)
      next += 1
      let ahead = sent.with { $0 } - next
      #expect(ahead <= 5)
    }
    #expect(next == 1000)
  }

  @Test("stops work that blocks when its reader is gone, and frees the thread")
  func blockingReaderGone() async throws {
    let pool = try WorkPool(.init(threads: 1))
    let census = Census()
    do {
      let stream = try pool.stream(itemsMax: 2) { sink, _ in
        while true { try sink.send(census.object()) }
      }
      for try await _ in stream { break }
    }
    #expect(try await pool.run { _ in 1 } == 1)
    await until { census.alive == 0 }
  }

  @Test("refuses a size out of range", arguments: [0, -1, 1_000_001])
  func sizes(itemsMax: Int) async throws {
    #expect(
      await code { _ = try CreditStream<Int>.makeStream(itemsMax: itemsMax) } == .invalidArgument)
  }
}
