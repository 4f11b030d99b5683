// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import ClearwayThreads
import Foundation
import Testing

@testable import ClearwayPlugin

/// The libraries and plugins that the tests use.
enum Built {
  static let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized

  #if canImport(Darwin)
    private static let suffix = "dylib"
  #else
    private static let suffix = "so"
  #endif

  private static let release: URL = {
    let named = ProcessInfo.processInfo.environment["CLEARWAY_LIBRARY"]
    return named.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
      ?? root.appending(path: "native/target/release")
  }()

  static let library = release.appending(path: "libclearway.\(suffix)").path

  /// Whether the native parts are there.
  ///
  /// Without them, the tests are skipped.
  static let isThere = FileManager.default.fileExists(atPath: library)

  static let why: Comment = "libclearway was not built: run `make native`"

  /// An example plugin in a language: `c` or `rust`.
  static func example(_ language: String, _ name: String = "example") -> String {
    let file = "libclearway_\(name)_\(language).\(suffix)"
    let folder = language == "c" ? root.appending(path: "native/plugins/c/build") : release
    return folder.appending(path: file).path
  }

  /// Compiles a plugin of the tests of Node's addon once, and returns its path.
  static func probe(_ name: String = "probe") throws -> String {
    try probes.get()[name]!
  }

  private static let probes = Result { try compile() }

  private static func compile() throws -> [String: String] {
    let fixtures = root.appending(path: "ts/clearway-native/test/fixtures")
    let probe = fixtures.appending(path: "probe.c").path
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "clearway-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let made = [
      "probe": [probe], "refuses": ["-DPROBE_REFUSES", probe], "old": ["-DPROBE_OLD", probe],
      "none": [fixtures.appending(path: "none.c").path],
    ]
    var paths = ["text": folder.appending(path: "text.so").path]
    try Data("no library".utf8).write(to: folder.appending(path: "text.so"))
    for (name, given) in made {
      let path = folder.appending(path: "lib\(name).\(suffix)").path
      let arguments =
        ["-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]
        + [root.appending(path: "native/include").path] + given + ["-o", path, "-lpthread"]
      // Swift's own toolchain has clang, and a system may have no `cc`.
      guard try ["cc", "clang"].contains(where: { try run($0, arguments) == 0 }) else {
        throw ClearwayError(.loadFailed, "neither cc nor clang compiles \(given)")
      }
      paths[name] = path
    }
    return paths
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

let options = PluginOptions(library: Built.library, printsWarnings: false)

/// Opens the plugin of the tests.
func open() throws -> Plugin { try Plugin(try Built.probe(), options: options) }

/// Returns numbers in the form that the plugin of the tests reads: 32 bits each, little-endian.
func int32s(_ numbers: UInt32...) -> [UInt8] {
  numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }
}

/// Returns the first 32-bit number of the bytes.
func number(_ bytes: [UInt8]?) -> UInt32? {
  guard let bytes, bytes.count >= 4 else { return nil }
  return bytes[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
}

/// Returns the code of the error that `body` throws.
///
/// Returns nil if it throws nothing, or another error.
func code(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> ClearwayError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? ClearwayError)?.code
  }
}

/// Waits until a condition holds.
///
/// The tests' time limit bounds it.
func until(_ holds: () throws -> Bool) async rethrows {
  while try !holds(), !Task.isCancelled { await Task.yield() }
}

/// Whether `task` has failed with `CancellationError`.
func isCancelled<Value>(_ task: Task<Value, any Error>) async -> Bool {
  guard case .failure(let error) = await task.result else { return false }
  return error is CancellationError
}

/// The number of threads of the process whose name begins with `name`.
func threads(named name: String) -> Int {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.filter {
    let comm = try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
    return comm?.hasPrefix(name) == true
  }.count
}

@Suite("A plugin", .serialized, .enabled(if: Built.isThere, Built.why), .timeLimit(.minutes(5)))
struct PluginTests {}
