// SPDX-License-Identifier: MIT OR Apache-2.0

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#elseif canImport(Darwin)
  @preconcurrency import Darwin
#endif

#if os(macOS) || os(Linux) || os(Android)
  /// A child process whose standard input and output carry a channel.
  ///
  /// The child must print nothing to its standard output. Its standard error is this process's.
  public final class ChildProcess: @unchecked Sendable {
    private let lock = Lock()
    private let pid: pid_t
    private var status: Int32?
    private var waiting: [CheckedContinuation<Int32, Never>] = []
    let (input, output): (Int32, Int32)

    /// Starts a program. `executable` is a path, or a name that is searched on the PATH.
    ///
    /// Without an `environment`, the child has this process's. Throws
    /// ``ClearwayError/Code/failed`` if the program cannot be started.
    public init(_ executable: String, arguments: [String] = [], environment: [String: String]? = nil)
      throws(ClearwayError)
    {
      let (childInput, input) = try System.pipe()
      let (output, childOutput) = try System.pipe()
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
      #else
        var actions = posix_spawn_file_actions_t()
      #endif
      posix_spawn_file_actions_init(&actions)
      posix_spawn_file_actions_adddup2(&actions, childInput, 0)
      posix_spawn_file_actions_adddup2(&actions, childOutput, 1)
      var pid = pid_t()
      var words = ([executable] + arguments).map { strdup($0) } + [nil]
      var settings = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] }
      let failure =
        settings == nil
        ? posix_spawnp(&pid, executable, &actions, nil, &words, environ)
        : posix_spawnp(&pid, executable, &actions, nil, &words, &settings!)
      for word in words + (settings ?? []) { free(word) }
      posix_spawn_file_actions_destroy(&actions)
      System.close(childInput)
      System.close(childOutput)
      if failure != 0 {
        System.close(input)
        System.close(output)
        throw ClearwayError(
          .failed, "\(executable) could not be started: \(String(cString: strerror(failure)))")
      }
      self.pid = pid
      (self.input, self.output) = (output, input)
    }

    /// The exit status, or 128 and the number of the signal that ended the child; nil before.
    public var exitStatus: Int32? { lock.held { status } }

    /// Waits for the end of the child. A transport must run over the child's streams.
    public func exit() async -> Int32 {
      await withCheckedContinuation { continuation in
        let known = lock.held {
          if status == nil { waiting.append(continuation) }
          return status
        }
        if let known { continuation.resume(returning: known) }
      }
    }

    /// Sends a signal, SIGTERM unless another is given. Does nothing after the child's end.
    public func terminate(signal: Int32 = SIGTERM) {
      lock.held { if status == nil { kill(pid, signal) } }
    }

    /// Waits for the child's end without a limit, so that the system forgets the process.
    func reap() {
      _ = collect(0)
    }

    func exitReason(withinMs ms: Int64) -> CloseReason? {
      let clock = SystemClock()
      let untilMs = clock.nowMs + ms
      while true {
        if let status = collect(WNOHANG) {
          return CloseReason(
            .lost, "the process exited with status \(status)",
            detail: ["exitCode": .int(Int64(status))])
        }
        if clock.nowMs >= untilMs { return nil }
        _ = poll(nil, 0, 5)
      }
    }

    private func collect(_ options: Int32) -> Int32? {
      if let status = exitStatus { return status }
      var raw: Int32 = 0
      // Only the transport's thread collects, so the wait needs no lock.
      while waitpid(pid, &raw, options) != pid {
        if errno != EINTR || options == WNOHANG { return nil }
      }
      let exit = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + raw & 0x7f
      let resumed = lock.held {
        status = exit
        defer { waiting = [] }
        return waiting
      }
      for each in resumed { each.resume(returning: exit) }
      return exit
    }
  }

  extension StreamTransport {
    /// The parent's end of a channel to a child process.
    ///
    /// The child's end is ``StreamTransport/parent(limits:)``, or that of another language. If the
    /// child exits without a reason, the transport closes with `lost` and the detail `exitCode`.
    public convenience init(child: ChildProcess, limits: TransportLimits = .standard)
      throws(ClearwayError)
    {
      try self.init(
        input: child.input, output: child.output, name: "stdio", limits: limits, isTrusted: true,
        owns: true, child: child)
    }
  }
#else
  final class ChildProcess: Sendable {
    func reap() {}
    func exitReason(withinMs ms: Int64) -> CloseReason? { nil }
  }
#endif

extension StreamTransport {
  /// The child's end of a channel to the process that started it, over the standard streams.
  ///
  /// What this process prints afterwards goes to its standard error, so that text does not mix with
  /// frames.
  public static func parent(limits: TransportLimits = .standard) throws(ClearwayError)
    -> StreamTransport
  {
    fflush(nil)
    let output = dup(1)
    if output < 0 || dup2(2, 1) < 0 {
      throw ClearwayError(.failed, "the standard output cannot be redirected: \(System.lastError())")
    }
    return try StreamTransport(
      input: 0, output: output, name: "stdio", limits: limits, isTrusted: true, owns: false,
      child: nil)
  }
}
