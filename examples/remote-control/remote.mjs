// SPDX-License-Identifier: MIT OR Apache-2.0
// The schema of the channel between page and server. Both sides have their types from it.
import { schema } from "clearway/channel";

export const remote = schema({
  channel: "remote",
  methods: {
    /** Measures a round trip of the channel alone, because the server answers at once. */
    ping: {},
    /** Sets the delay, the loss and the rate of the network between page and server. A rate of 0 bytes per second means no limit. */
    weather: { args: { struct: { delayMs: "f64", lossRate: "f64", bytesPerSecond: "f64" } } },
  },
  events: {
    frames: {
      args: { struct: { width: "i32", height: "i32", rate: "i32" } },
      value: {
        struct: {
          number: "i32",
          width: "i32",
          height: "i32",
          /** Three numbers for each newly visible command: its number, the ms in the server, and the ms of these in native code. */
          shown: "f64s",
          pixels: "bytes",
        },
      },
    },
  },
});

/** The channel of commands. Commands are never dropped. A message is little-endian: u32 number, i32 x, i32 y, u32 buttons. */
export const commandChannel = "remote/command";
export const commandBytes = 16;
