// SPDX-License-Identifier: MIT OR Apache-2.0
// The native screen. A plugin in C draws it on the plugin's own thread. The frames arrive here without a copy.
import { standardMessageCodec } from "clearway/channel";
import { latest, loadPlugin } from "clearway-native";
import { plugins } from "../../../scripts/native.mjs";
import { commandBytes } from "../remote.mjs";

/** Opens the native screen. Throws if the addon or plugin was not built. @returns {Promise<import("./drawn-screen.mjs").Screen>} */
export async function nativeScreen() {
  const plugin = await loadPlugin(plugins.c.example);
  const pointer = plugin.channel("frames/pointer");
  const command = new Uint8Array(commandBytes);
  const view = new DataView(command.buffer);
  return {
    kind: "native",
    point: (number, x, y, buttons) => {
      view.setUint32(0, number, true);
      view.setInt32(4, x, true);
      view.setInt32(8, y, true);
      view.setUint32(12, buttons, true);
      pointer.call(command);
    },
    frames: async function* (size, signal) {
      const given = standardMessageCodec.encode(size);
      for await (const frame of plugin.channel("frames").listen({ ...latest(), arguments: given, signal })) {
        // The frame returns to the plugin when the receiver requests the next one.
        try {
          if (frame.bytes) yield frame.bytes;
        } finally {
          frame.release();
        }
      }
    },
    close: () => plugin.close(),
  };
}
