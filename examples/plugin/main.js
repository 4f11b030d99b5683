// SPDX-License-Identifier: MIT OR Apache-2.0
import { standardMessageCodec, standardMethodCodec } from "clearway/channel";
import { plugins } from "../../scripts/native.mjs";

const path = process.argv[2] ?? plugins.c.example;
const { encode } = standardMessageCodec;

// #region call
import { loadPlugin } from "clearway-native";

const plugin = await loadPlugin(path); // a shared library in C, C++ or Rust

const echo = plugin.channel("echo/method"); // direct: the handler runs on this thread, during the call
const answer = echo.call(standardMethodCodec.call.encode({ method: "echo", args: "hello" }));
console.log(standardMethodCodec.reply.decode(answer.bytes ?? new Uint8Array()));

const elsewhere = plugin.channel("echo/method/pool"); // this handler runs on the plugin's own threads
const later = await elsewhere.send(standardMethodCodec.call.encode({ method: "echo", args: [1, 2] }));
console.log(standardMethodCodec.reply.decode(later.bytes ?? new Uint8Array()));
// #endregion call

// #region memory
const pixels = plugin.allocate(1920 * 1080 * 4); // native memory; JavaScript has a view of it, not a copy
plugin.channel("memset/shared").call(new Uint8Array([7]), [pixels]); // fills the attached memory
console.log(pixels.bytes.length, pixels.bytes[0]);
const view = pixels.bytes;
pixels.release(); // or declare `pixels` with `using`, which releases it
console.log(view.length); // 0: the view is empty, and the native memory can be reused

const mine = new Uint8Array(1 << 20); // JavaScript's memory, lent to the plugin
const lent = plugin.lend(mine);
plugin.channel("memset/shared").call(new Uint8Array([9]), [lent]);
lent.release();
await lent.returned; // resolves when native code no longer uses the memory
console.log(mine[0]);
// #endregion memory

// #region events
let count = 0;
const readings = plugin.channel("sensor").listen({ arguments: encode({ rate: 1000, count: 5 }), items: 256 });
for await (const reading of readings) {
  count++;
  reading.release(); // returns native memory, such as a video frame, to the plugin; these 24 bytes have none
}
console.log(count, "readings,", readings.dropped, "dropped");

// #endregion events

// #region frames
import { latest } from "clearway-native";

const frames = plugin.channel("frames").listen({ arguments: encode({ rate: 60 }), ...latest() });
for await (const frame of frames) {
  console.log(frame.bytes?.length, frame.memory?.kind);
  frame.release(); // returns the frame's memory to the source
  break; // also ends the stream at its source
}
// #endregion frames

// #region ledger
const { ledger, leaked } = plugin.stats();
console.log(ledger.fromNative.movedBytes > 0, ledger.toNative.copies, leaked);
await plugin.close();
// #endregion ledger
