// swift-tools-version: 6.0
// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs Run.swift with Clearway's package for Swift. CLEARWAY_SWIFT is its folder: `swift` in a clone, or an unpacked archive
// clearway-swift-VERSION.tar.gz.
import PackageDescription

let package = Package(
  name: "run",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "Clearway", path: Context.environment["CLEARWAY_SWIFT"] ?? "clearway-swift")
  ],
  targets: [
    .executableTarget(
      name: "run",
      dependencies: [
        .product(name: "ClearwayChannel", package: "Clearway"),
        .product(name: "ClearwayPlugin", package: "Clearway"),
      ],
      path: ".", sources: ["Run.swift"])
  ],
  swiftLanguageModes: [.v6]
)
