// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases of native plugins. Each case creates its mechanisms as `{ times, run(times) }`. `run` returns the mean
// time of one operation, in microseconds.
import { createRequire } from "node:module";
import { standardMethodCodec } from "clearway/channel";

const MB = 1 << 20;
const require = createRequire(import.meta.url);

/** Makes a mechanism from a synchronous operation. */
const syncOperation = (times, call) => ({
  times,
  run() {
    const begun = process.hrtime.bigint();
    for (let at = 0; at < times; at++) call();
    return Number(process.hrtime.bigint() - begun) / 1e3 / times;
  },
});

/** Makes a mechanism from an asynchronous operation. */
const asyncOperation = (times, call) => ({
  times,
  async run() {
    const begun = process.hrtime.bigint();
    for (let at = 0; at < times; at++) await call();
    return Number(process.hrtime.bigint() - begun) / 1e3 / times;
  },
});

/** Makes a mechanism that measures itself in C. */
const selfTimed = (run) => ({ times: 1, run });

/** Returns the mechanisms that use koffi, or the reason why koffi does not load. */
function koffiMechanisms(file, make) {
  try {
    const library = require("koffi").load(file);
    return { mechanisms: make((signature) => library.func(signature)) };
  } catch (error) {
    return { mechanisms: {}, without: { koffi: error.message.split("\n")[0] } };
  }
}

function memset({ bareFile, plugin }) {
  const bare = require(bareFile);
  const fill = plugin.channel("fill");
  const filled = plugin.allocate(8 * MB).bytes;
  const shared = new Uint8Array(new SharedArrayBuffer(8 * MB));
  const arrayBufferView = new Uint8Array(8 * MB).fill(1);
  // koffi converts a quarter of a megabyte at a time, because it crashes the process with lists of two million elements.
  const list = Array.from({ length: MB / 4 }, () => 1);
  const { mechanisms, without } = koffiMechanisms(bareFile, (func) => {
    const lend = func("void bare_fill(uint8_t *data, uint32_t size)");
    const convert = func("void bare_fill(_Inout_ uint8_t *data, uint32_t size)");
    const part = syncOperation(1, () => convert(list, MB / 4));
    return {
      "koffi, pointer to an ArrayBuffer": syncOperation(32, () => lend(arrayBufferView, 8 * MB)),
      "koffi, element by element": selfTimed(() => 32 * part.run()),
    };
  });
  return {
    mechanisms: {
      "in C, native memory": selfTimed(() => bare.fillInC(filled)),
      "in C, SharedArrayBuffer": selfTimed(() => bare.fillInC(shared)),
      "plugin, native memory": syncOperation(32, () => fill.call(filled)),
      "plugin, SharedArrayBuffer": syncOperation(32, () => fill.call(shared)),
      "Node-API by hand": syncOperation(32, () => bare.fill(shared)),
      ...mechanisms,
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
    mechanisms: {
      "two memcpy in C": selfTimed(() => bare.copyTwiceInC(8 * MB)),
      "method call, codec both ways": syncOperation(1, () => {
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
  const { mechanisms, without } = koffiMechanisms(bareFile, (func) => {
    const take = func("void bare_take(uint8_t *data, uint32_t size)");
    return { "koffi, a Uint8Array": syncOperation(20_000, () => take(bytes, 16)) };
  });
  return {
    mechanisms: {
      "Node-API by hand, a Uint8Array": syncOperation(20_000, () => bare.take(bytes)),
      "plugin, null": syncOperation(20_000, () => nothing.call()),
      "plugin, null, again": syncOperation(20_000, () => twin.call()),
      "plugin, 16 bytes": syncOperation(20_000, () => nothing.call(bytes)),
      ...mechanisms,
    },
    without,
  };
}

function megabyte({ plugin }) {
  const channel = (name) => plugin.channel(name);
  const [nothing, echo, poolNothing, poolEcho] = ["null", "echo", "pool/null", "pool/echo"].map(channel);
  const lent = plugin.lend(new Uint8Array(MB).fill(1));
  const plain = new Uint8Array(MB).fill(1);
  return {
    mechanisms: {
      "direct, null": syncOperation(20_000, () => nothing.call()),
      "direct, 1 MB lent": syncOperation(20_000, () => echo.call(lent).release()),
      // This case is for comparison: memory that is lent only during a call must be copied to be returned.
      "direct, 1 MB of an ArrayBuffer": syncOperation(20, () => echo.call(plain).release()),
      "pool, null": asyncOperation(200, () => poolNothing.send()),
      "pool, 1 MB lent": asyncOperation(200, async () => (await poolEcho.send(lent)).release()),
      "pool, 1 MB of an ArrayBuffer": asyncOperation(200, async () => (await poolEcho.send(plain)).release()),
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
