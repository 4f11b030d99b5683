// SPDX-License-Identifier: MIT OR Apache-2.0
// What page and server say to each other, as data: both sides' types come from it.
import { schema } from "clearway/channel";

export const remote = schema({
  channel: "remote",
  methods: {
    /** Answered at once: a round trip of the bare channel. */
    ping: {},
    /** The network between the two, made worse or better; 0 bytes a second is no limit. */
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
          /** Of each command that is seen for the first time: its number, how long it was kept, and native code's part of that. */
          shown: "f64s",
          pixels: "bytes",
        },
      },
    },
  },
});

/** Commands are messages of their own, never dropped: u32 number, i32 x, i32 y, u32 buttons, little endian. */
export const commandChannel = "remote/command";
export const commandBytes = 16;
