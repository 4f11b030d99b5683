// SPDX-License-Identifier: MIT OR Apache-2.0
// The schema of page and server. The types of both sides come from it.
import { schema } from "clearway/channel";

export const remote = schema({
  channel: "remote",
  methods: {
    /** The server answers at once. This measures a round trip of the bare channel. */
    ping: {},
    /** Sets the delay, loss and rate of the network between the two. A rate of 0 bytes per second means no limit. */
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
          /** For each command that is visible for the first time: its number, how long the server kept it, and native code's part. */
          shown: "f64s",
          pixels: "bytes",
        },
      },
    },
  },
});

/** The channel of commands, which are never dropped. A message is: u32 number, i32 x, i32 y, u32 buttons, little-endian. */
export const commandChannel = "remote/command";
export const commandBytes = 16;
