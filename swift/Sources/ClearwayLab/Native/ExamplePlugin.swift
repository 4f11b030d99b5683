// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayPlugin
import Foundation

/// The example plugin in C, which Node and the JVM load, too.
enum ExamplePlugin {
  private static let environment = ProcessInfo.processInfo.environment
  private static let path = environment["CLEARWAY_LAB_PLUGIN"] ?? ""
  private static let library = environment["CLEARWAY_LIBRARY"] ?? ""

  /// Says why the plugin cannot be loaded and what to do.
  ///
  /// It is `nil` if the files exist.
  static var problem: String? {
    if !FileManager.default.fileExists(atPath: library) {
      return "libclearway is not built: in Clearway's repository, node scripts/native.mjs \"Rust plugins\""
    }
    if !FileManager.default.fileExists(atPath: path) {
      return
        "the example plugin is not built: in Clearway's repository, node scripts/native.mjs \"C plugins\""
    }
    return nil
  }

  static func open() throws -> Plugin {
    if let problem { throw LabError(problem) }
    return try Plugin(path)
  }
}
