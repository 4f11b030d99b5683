// SPDX-License-Identifier: MIT OR Apache-2.0
import ClearwayChannel
import ClearwayPlugin
import Testing

extension PluginTests {
  @Test("runs the examples of docs/plugins.md")
  func docs() async throws {
    let path = Built.example("c")
    let options = options
    // #region open
    let plugin = try Plugin(path, options: options)
    let memset = try plugin.channel("memset/method").methods(.standard)
    let filled = try memset.call("memset", [.bytes([0, 0, 0]), 9])
    // #endregion open
    #expect(filled == .bytes([9, 9, 9]))
    // #region memory
    let memory = try plugin.allocate(4096)
    try await plugin.channel("memset/shared").send([7], attaching: memory).release()
    let sum = memory.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
    memory.release()
    // #endregion memory
    #expect(sum == 7 * 4096)
    // #region events
    let sensor = try plugin.channel("sensor").messages(.standard)
    var count = 0
    for try await reading in try sensor.listen(["rate": 0, "count": 100]) {
      count += reading.withUnsafeBytes { $0.count } / 24
    }
    try await plugin.close()
    // #endregion events
    #expect(count == 100)
  }
}
