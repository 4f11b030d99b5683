// SPDX-License-Identifier: MIT OR Apache-2.0
// What the page and the server agree on.
import { schema } from "clearway/channel";

export const Screen = schema({
  channel: "remote/screen",
  types: {
    command: { struct: { number: "int", x: "f64", y: "f64" } },
    frame: {
      struct: {
        number: "int",
        width: "i32",
        height: "i32",
        pixels: "bytes",
        /** The last command that the frame shows, how long that waited for its frame, and how long the frame took to make. */
        command: "int",
        queueMs: "f64",
        makeMs: "f64",
      },
    },
  },
  methods: {
    point: { doc: "Moves the pointer.", args: { ref: "command" } },
    ping: { doc: "Nothing, there and back." },
  },
  events: {
    frames: { doc: "The screen, 60 times a second.", value: { ref: "frame" } },
  },
});
