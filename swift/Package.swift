// swift-tools-version: 6.0
// SPDX-License-Identifier: MIT OR Apache-2.0
import PackageDescription

let package = Package(
  name: "Clearway",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "ClearwayChannel", targets: ["ClearwayChannel"]),
    .library(name: "ClearwayPlugin", targets: ["ClearwayPlugin"]),
    .library(name: "ClearwayTasks", targets: ["ClearwayTasks"]),
    .library(name: "ClearwayMeter", targets: ["ClearwayMeter"]),
  ],
  targets: [
    .target(name: "ClearwayChannel"),
    .target(name: "CClearway"),
    .target(name: "ClearwayThreads"),
    .target(
      name: "ClearwayPlugin", dependencies: ["CClearway", "ClearwayChannel", "ClearwayThreads"]),
    .target(name: "ClearwayTasks", dependencies: ["ClearwayThreads"]),
    .target(name: "ClearwayMeter", dependencies: ["ClearwayThreads"]),
    // #region clone
    // Only in a clone: scripts/release/swift.mjs leaves these targets out of the archive.
    .executableTarget(
      name: "ClearwayConformance", dependencies: ["ClearwayChannel", "ClearwayPlugin"]),
    .executableTarget(
      name: "QuickStartExample", dependencies: ["ClearwayChannel"], path: "Examples/QuickStart"),
    .executableTarget(
      name: "RemoteControlExample", dependencies: ["ClearwayChannel"],
      path: "Examples/RemoteControl"),
    .executableTarget(
      name: "ClearwayLab",
      dependencies: ["ClearwayChannel", "ClearwayPlugin", "ClearwayTasks", "ClearwayMeter"]),
    .testTarget(name: "ClearwayChannelTests", dependencies: ["ClearwayChannel"]),
    .testTarget(name: "ClearwayPluginTests", dependencies: ["ClearwayPlugin", "ClearwayThreads"]),
    .testTarget(name: "ClearwayTasksTests", dependencies: ["ClearwayTasks", "ClearwayThreads"]),
    .testTarget(name: "ClearwayMeterTests", dependencies: ["ClearwayMeter", "ClearwayThreads"]),
    // #endregion clone
  ],
  swiftLanguageModes: [.v6]
)
