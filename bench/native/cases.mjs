// SPDX-License-Identifier: MIT OR Apache-2.0
// What is measured: each case gives microseconds for one operation of each subject, measured together round by round.
import { createRequire } from "node:module";
import { standardMethodCodec } from "clearway/channel";

const MB = 1 << 20;
const require = createRequire(import.meta.url);

/** Microseconds of one call, on average over `times`. */
function timed(times, call) {
  const begun = process.hrtime.bigint();
  for (let at = 0; at < times; at++) call();
  return Number(process.hrtime.bigint() - begun) / 1e3 / times;
}

async function timedAsync(times, call) {
  const begun = process.hrtime.bigint();
  for (let at = 0; at < times; at++) await call();
  return Number(process.hrtime.bigint() - begun) / 1e3 / times;
}

function koffiOf(file) {
  try {
    const library = require("koffi").load(file);
    return {
      fill: library.func("void bare_fill(uint8_t *data, uint32_t size)"),
      take: library.func("void bare_take(uint8_t *data, uint32_t size)"),
      convert: library.func("void bare_fill(_Inout_ uint8_t *data, uint32_t size)"),
    };
  } catch (error) {
    console.error(`bench: koffi is left out: ${error.message}`);
    return undefined;
  }
}

/** The cases, each `{ name, subjects: { name: () => microseconds }, ratios: [[what, a, b, aimed at]] }`. */
export function cases({ bareFile, plugin, shared }) {
  const bare = require(bareFile);
  const koffi = koffiOf(bareFile);
  const at = (name) => plugin.channel(name);
  const [nothing, echo, fill] = ["null", "echo", "fill"].map(at);
  const [poolNothing, poolEcho] = ["pool/null", "pool/echo"].map(at);
  const native = shared.allocate(8 * MB);
  const filled = native.bytes;
  const sharedBytes = new Uint8Array(new SharedArrayBuffer(8 * MB));
  // A quarter of a megabyte at a time: with lists of two million elements koffi ends the process.
  const list = Array.from({ length: MB / 4 }, () => 1);
  const byte = new Uint8Array(16);
  const megabyte = plugin.lend(new Uint8Array(MB).fill(1));
  const eight = new Uint8Array(8 * MB).fill(1);
  const scratch = new Uint8Array(8 * MB + 64);
  const twin = at("null");
  return [
    {
      name: "memset of 8 MB, warm",
      subjects: {
        "in C": () => bare.fillInC(8 * MB),
        "plugin, native memory": () => timed(8, () => fill.call(filled)),
        "plugin, SharedArrayBuffer": () => timed(8, () => fill.call(sharedBytes)),
        "Node-API by hand": () => timed(8, () => bare.fill(sharedBytes)),
        ...(koffi && { "koffi, pointer to an ArrayBuffer": () => timed(8, () => koffi.fill(eight, 8 * MB)) }),
        ...(koffi && { "koffi, element by element": () => 32 * timed(1, () => koffi.convert(list, MB / 4)) }),
      },
      ratios: [
        ["plugin, native memory", "in C", "at most 1.05"],
        ["plugin, SharedArrayBuffer", "in C", "at most 1.05"],
        ...(koffi ? [["koffi, element by element", "plugin, native memory", "at least 50"]] : []),
      ],
    },
    {
      name: "copying method channel, 8 MB each way",
      subjects: {
        "two memcpy in C": () => bare.copyTwiceInC(8 * MB),
        "method call, codec both ways": () =>
          timed(1, () => {
            const size = standardMethodCodec.call.encodeInto({ method: "echo", args: eight }, scratch, 0);
            const answer = echo.call(scratch.subarray(0, size));
            standardMethodCodec.call.decode(answer.bytes, { owned: true });
            answer.release();
          }),
      },
      ratios: [["method call, codec both ways", "two memcpy in C", "at most 2"]],
    },
    {
      name: "null message, direct",
      subjects: {
        "Node-API by hand, a Uint8Array": () => timed(20_000, () => bare.take(byte)),
        ...(koffi && { "koffi, a Uint8Array": () => timed(20_000, () => koffi.take(byte, 16)) }),
        plugin: () => timed(20_000, () => nothing.call()),
        "plugin, twin": () => timed(20_000, () => twin.call()),
        "plugin, 16 bytes": () => timed(20_000, () => nothing.call(byte)),
        "plugin, 1 MB lent, echoed": () => timed(20_000, () => echo.call(megabyte).release()),
      },
      ratios: [
        ["plugin", "Node-API by hand, a Uint8Array", "at most 3"],
        ["plugin, 1 MB lent, echoed", "plugin", "at most 1.5"],
        ["plugin, twin", "plugin", "1: the noise"],
      ],
    },
    {
      name: "message to the plugin's pool and back",
      subjects: {
        null: () => timedAsync(200, () => poolNothing.send()),
        "1 MB lent, echoed": () => timedAsync(200, async () => (await poolEcho.send(megabyte)).release()),
        "1 MB of an ArrayBuffer, echoed": () =>
          timedAsync(200, async () => (await poolEcho.send(eight.subarray(0, MB))).release()),
      },
      ratios: [
        ["1 MB lent, echoed", "null", "at most 1.5"],
        ["1 MB of an ArrayBuffer, echoed", "null", "at most 1.5"],
      ],
    },
  ];
}
