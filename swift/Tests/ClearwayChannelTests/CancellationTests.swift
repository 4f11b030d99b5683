// SPDX-License-Identifier: MIT OR Apache-2.0

import Testing

@testable import ClearwayChannel

@Suite("Cancellation", .timeLimit(.minutes(2)))
struct CancellationTests {
  @Test("A cancelled call cancels its handler at the other end", arguments: Carrier.allCases)
  func cancelsHandler(_ carrier: Carrier) async throws {
    let (here, there) = try await connected(carrier)
    let started = Promise<Void>()
    let cancelled = Promise<Void>()
    try there.messages("wait").handle { _, _ in
      started.fulfil(())
      await withTaskCancellationHandler { await cancelled.get() } onCancel: { cancelled.fulfil(()) }
      return nil
    }
    let call = Task { try await here.messages("wait").send(nil) }
    await started.get()
    call.cancel()
    await #expect(throws: CancellationError.self) { _ = try await call.value }
    await cancelled.get()
    await eventually { there.stats().handling == 0 }
    #expect(here.stats().calls == 0)
    await here.close()
  }

  @Test("A call that is cancelled at any moment ends, and leaves nothing behind")
  func anyMoment() async throws {
    let (here, there) = try await connected()
    try there.methods("m").handle { call, _ in
      for _ in 0..<(call.arguments.intValue ?? 0) { await Task.yield() }
      return call.arguments
    }
    for moment in 0..<300 {
      let call = Task { try await here.methods("m").call("x", .int(Int64(moment % 7))) }
      for _ in 0..<(moment % 23) { await Task.yield() }
      call.cancel()
      do {
        #expect(try await call.value == .int(Int64(moment % 7)))
      } catch {
        #expect(error is CancellationError)
      }
    }
    await eventually { there.stats().handling == 0 }
    #expect(here.stats().calls == 0)
    #expect(try await here.methods("m").call("x", 3) == 3)
    await here.close()
  }

  @Test("A call of a cancelled task is not sent")
  func cancelledBefore() async throws {
    let (here, there) = try await connected()
    let arrived = Guarded(false)
    try there.messages("m").handle { _, _ in
      arrived.update { $0 = true }
      return nil
    }
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await here.messages("m").send(nil)
    }
    await #expect(throws: CancellationError.self) { try await call.value }
    await here.close()
    #expect(!arrived.value)
  }

  @Test("A deadline ends the call here, and a timeout its handler there")
  func limits() async throws {
    let (hereClock, thereClock) = (FakeClock(), FakeClock())
    var (hereOptions, thereOptions) = (EndpointOptions(), EndpointOptions())
    hereOptions.clock = hereClock
    thereOptions.clock = thereClock
    let (here, there) = try await connected(here: hereOptions, there: thereOptions)
    let cancelled = Guarded(0)
    let started = Guarded(0)
    try there.methods("m").handle { _, context in
      started.update { $0 += 1 }
      let done = Promise<Void>()
      await withTaskCancellationHandler { await done.get() } onCancel: { done.fulfil(()) }
      cancelled.update { $0 += 1 }
      return .int(context.deadline?.milliseconds ?? -1)
    }
    let channel = try here.methods("m")
    async let late = code {
      _ = try await channel.call("x", options: CallOptions(deadline: .seconds(2)))
    }
    await eventually { started.value == 1 }
    hereClock.advance(2_000)
    #expect(await late == .deadline)
    await eventually { cancelled.value == 1 }
    async let slow = code {
      _ = try await channel.call("x", options: CallOptions(timeout: .seconds(1)))
    }
    await eventually { started.value == 2 }
    thereClock.advance(1_000)
    #expect(await slow == .timeout)
    await eventually { cancelled.value == 2 }
    await here.close()
  }

  @Test("A connect without a hello ends by its task or by the time for hellos")
  func connects() async throws {
    let (one, other) = MemoryTransport.pair()
    let connect = Task { try await Endpoint.connect(one) }
    await Task.yield()
    connect.cancel()
    await #expect(throws: CancellationError.self) { _ = try await connect.value }

    let clock = FakeClock()
    var options = EndpointOptions()
    options.clock = clock
    let (two, silent) = MemoryTransport.pair()
    async let late = code { [options] in _ = try await Endpoint.connect(two, options: options) }
    await eventually { clock.count == 1 }
    clock.advance(30_000)
    #expect(await late == .deadline)
    withExtendedLifetime((other, silent)) {}
  }
}
