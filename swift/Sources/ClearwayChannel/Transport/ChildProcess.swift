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
  /// The child must print nothing to its standard output. Its standard error is this process's. If that
  /// is a pipe that no process reads, a child that prints much blocks.
  public final class ChildProcess: @unchecked Sendable {
    private let lock = Lock()
    let pid: pid_t
    private var status: Int32?
    private var waiting: [CheckedContinuation<Int32, Never>] = []
    /// Whether a transport has the streams, and waits for the child's end.
    private var isTaken = false
    let (input, output): (Int32, Int32)

    /// Starts a program. `executable` is a path, or a name that is searched on the PATH.
    ///
    /// Without an `environment`, the child has this process's. Throws
    /// ``ClearwayError/Code/failed`` if the program cannot be started.
    public init(
      _ executable: String, arguments: [String] = [], environment: [String: String]? = nil
    )
      throws(ClearwayError)
    {
      let (childInput, input) = try System.pipe()
      let (output, childOutput): (Int32, Int32)
      do {
        (output, childOutput) = try System.pipe()
      } catch {
        System.close(childInput)
        System.close(input)
        throw error
      }
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
      #endif
      // The threads of Swift's tasks block all signals, and this process may ignore SIGPIPE. The child
      // must inherit neither.
      var (none, defaults) = (sigset_t(), sigset_t())
      sigemptyset(&none)
      sigemptyset(&defaults)
      sigaddset(&defaults, SIGPIPE)
      posix_spawnattr_init(&attributes)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
      posix_spawn_file_actions_init(&actions)
      posix_spawn_file_actions_adddup2(&actions, childInput, 0)
      posix_spawn_file_actions_adddup2(&actions, childOutput, 1)
      var pid = pid_t()
      var words = ([executable] + arguments).map { strdup($0) } + [nil]
      var settings = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] }
      let failure = System.beforeSpawn.held {
        settings == nil
          ? posix_spawnp(&pid, executable, &actions, &attributes, &words, environ)
          : posix_spawnp(&pid, executable, &actions, &attributes, &words, &settings!)
      }
      for word in words + (settings ?? []) { free(word) }
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
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

    deinit {
      if isTaken { return }
      System.close(input)
      System.close(output)
      // The child reads the end of its input. The system keeps the process until its end was waited for.
      let pid = pid
      _ = System.thread {
        var raw: Int32 = 0
        while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
      }
    }

    /// Gives the streams to a transport. Returns false if another one has them.
    func take() -> Bool {
      lock.held {
        defer { isTaken = true }
        return !isTaken
      }
    }

    /// The exit status, or 128 and the number of the signal that ended the child; nil before. It is -1
    /// if the system does not tell, because another part of the program has waited for the child or
    /// ignores SIGCHLD.
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
      if options != WNOHANG {
        // Leaves the process for the call below. Until then, its number belongs to no other process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      }
      // `terminate` must not send a signal to a number that the system has given to another process.
      let (exit, resumed) = lock.held { () -> (Int32?, [CheckedContinuation<Int32, Never>]) in
        if let status { return (status, []) }
        var raw: Int32 = 0
        let found = waitpid(pid, &raw, WNOHANG)
        if found == pid {
          status = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + raw & 0x7f
        } else if found < 0, errno == ECHILD {
          status = -1
        } else {
          return (nil, [])
        }
        defer { waiting = [] }
        return (status, waiting)
      }
      if let exit { for each in resumed { each.resume(returning: exit) } }
      return exit
    }
  }

  extension StreamTransport {
    /// The parent's end of a channel to a child process.
    ///
    /// The child's end is ``StreamTransport/parent(limits:)``, or that of another language. If the
    /// child exits without a reason, the transport closes with `lost` and the detail `exitCode`. Throws
    /// ``ClearwayError/Code/invalidArgument`` if the child has a transport, which goes on.
    public convenience init(child: ChildProcess, limits: TransportLimits = .standard)
      throws(ClearwayError)
    {
      if !child.take() {
        throw ClearwayError(
          .invalidArgument, "child must have one transport: child=process \(child.pid)")
      }
      do {
        try self.init(
          input: child.input, output: child.output, name: "stdio", limits: limits, isTrusted: true,
          owns: true, child: child)
      } catch {
        _ = System.thread { child.reap() }
        throw error
      }
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
    // A child process that inherits the copy would keep it open.
    let output = fcntl(1, F_DUPFD_CLOEXEC, 0)
    if output < 0 || dup2(2, 1) < 0 {
      let why = System.lastError()
      if output >= 0 { System.close(output) }
      throw ClearwayError(.failed, "the standard output cannot be redirected: \(why)")
    }
    return try StreamTransport(
      input: 0, output: output, name: "stdio", limits: limits, isTrusted: true, owns: false,
      child: nil)
  }
}
