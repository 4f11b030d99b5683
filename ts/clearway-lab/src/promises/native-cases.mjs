// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases of native plugins. Each case creates its subjects (the compared mechanisms) as `{ times, run(times) }`. `run` returns the mean
// time of one operation, in microseconds.
import { createRequire } from "node:module";
import { standardMethodCodec } from "clearway/channel";

const MB = 1 << 20;
const require = createRequire(import.meta.url);

/** Makes a subject from a synchronous operation. */
const timed = (times, call) => ({
  times,
  run() {
    const begun = process.hrtime.bigint();
    for (let at = 0; at < times; at++) call();
    return Number(process.hrtime.bigint() - begun) / 1e3 / times;
  },
});

/** Makes a subject from an asynchronous operation. */
const awaited = (times, call) => ({
  times,
  async run() {
    const begun = process.hrtime.bigint();
    for (let at = 0; at < times; at++) await call();
    return Number(process.hrtime.bigint() - begun) / 1e3 / times;
  },
});

/** Makes a subject that measures itself in C. */
const told = (run) => ({ times: 1, run });

/** Returns the subjects that use koffi, or the reason why koffi does not load. */
function byKoffi(file, subjects) {
  try {
    const library = require("koffi").load(file);
    return { subjects: subjects((signature) => library.func(signature)) };
  } catch (error) {
    return { subjects: {}, without: { koffi: error.message.split("\n")[0] } };
  }
}

function memset({ bareFile, plugin }) {
  const bare = require(bareFile);
  const fill = plugin.channel("fill");
  const filled = plugin.allocate(8 * MB).bytes;
  const shared = new Uint8Array(new SharedArrayBuffer(8 * MB));
  const own = new Uint8Array(8 * MB).fill(1);
  // koffi converts a quarter of a megabyte at a time, because it crashes the process with lists of two million elements.
  const list = Array.from({ length: MB / 4 }, () => 1);
  const { subjects, without } = byKoffi(bareFile, (func) => {
    const lend = func("void bare_fill(uint8_t *data, uint32_t size)");
    const convert = func("void bare_fill(_Inout_ uint8_t *data, uint32_t size)");
    const part = timed(1, () => convert(list, MB / 4));
    return {
      "koffi, pointer to an ArrayBuffer": timed(32, () => lend(own, 8 * MB)),
      "koffi, element by element": told(() => 32 * part.run()),
    };
  });
  return {
    subjects: {
      "in C, native memory": told(() => bare.fillInC(filled)),
      "in C, SharedArrayBuffer": told(() => bare.fillInC(shared)),
      "plugin, native memory": timed(32, () => fill.call(filled)),
      "plugin, SharedArrayBuffer": timed(32, () => fill.call(shared)),
      "Node-API by hand": timed(32, () => bare.fill(shared)),
      ...subjects,
    },
    without,
  };
}

function method({ bareFile, plugin }) {
  const bare = require(bareFile);
  const echo = plugin.channel("echo");
  const args = new Uint8Array(8 * MB).fill(1);
  const scratch = new Uint8Array(8 * MB + 64);
  return {
    subjects: {
      "two memcpy in C": told(() => bare.copyTwiceInC(8 * MB)),
      "method call, codec both ways": timed(1, () => {
        const size = standardMethodCodec.call.encodeInto({ method: "echo", args }, scratch, 0);
        const answer = echo.call(scratch.subarray(0, size));
        standardMethodCodec.call.decode(answer.bytes, { owned: true });
        answer.release();
      }),
    },
  };
}

function none({ bareFile, plugin }) {
  const bare = require(bareFile);
  const [nothing, twin] = [plugin.channel("null"), plugin.channel("null")];
  const bytes = new Uint8Array(16);
  const { subjects, without } = byKoffi(bareFile, (func) => {
    const take = func("void bare_take(uint8_t *data, uint32_t size)");
    return { "koffi, a Uint8Array": timed(20_000, () => take(bytes, 16)) };
  });
  return {
    subjects: {
      "Node-API by hand, a Uint8Array": timed(20_000, () => bare.take(bytes)),
      "plugin, null": timed(20_000, () => nothing.call()),
      "plugin, null, again": timed(20_000, () => twin.call()),
      "plugin, 16 bytes": timed(20_000, () => nothing.call(bytes)),
      ...subjects,
    },
    without,
  };
}

function megabyte({ plugin }) {
  const at = (name) => plugin.channel(name);
  const [nothing, echo, poolNothing, poolEcho] = ["null", "echo", "pool/null", "pool/echo"].map(at);
  const lent = plugin.lend(new Uint8Array(MB).fill(1));
  const plain = new Uint8Array(MB).fill(1);
  return {
    subjects: {
      "direct, null": timed(20_000, () => nothing.call()),
      "direct, 1 MB lent": timed(20_000, () => echo.call(lent).release()),
      // This case is for comparison: memory that is lent only during a call must be copied to be returned.
      "direct, 1 MB of an ArrayBuffer": timed(20, () => echo.call(plain).release()),
      "pool, null": awaited(200, () => poolNothing.send()),
      "pool, 1 MB lent": awaited(200, async () => (await poolEcho.send(lent)).release()),
      "pool, 1 MB of an ArrayBuffer": awaited(200, async () => (await poolEcho.send(plain)).release()),
    },
  };
}

/** The cases, each with the plugin's options. */
export const cases = {
  memset: { make: memset, options: { views: "shared" } },
  method: { make: method },
  none: { make: none },
  megabyte: { make: megabyte },
};
