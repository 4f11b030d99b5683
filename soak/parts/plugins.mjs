// SPDX-License-Identifier: MIT OR Apache-2.0
// Native plugins: calls on every kind of thread, lent memory, events and cancellation, while the plugin is opened and closed.
import { standardMessageCodec, standardMethodCodec } from "clearway/channel";
import { loadPlugin } from "clearway-native";
import { plugins } from "../../scripts/native.mjs";
import { check } from "../tally.mjs";

const { encode } = standardMessageCodec;

const message = (args) => standardMethodCodec.call.encode({ method: "echo", args });
const argsOf = ({ bytes }) => standardMethodCodec.reply.decode(bytes ?? new Uint8Array());

const operations = (random) => {
  const upTo = (most) => Math.floor(random() * most) + 1;
  return [
    {
      name: "direct call",
      weight: 30,
      async run({ plugin }) {
        const n = upTo(1e6);
        check(
          JSON.stringify(argsOf(plugin.channel("echo/method").call(message(n)))).includes(String(n)),
          "another answer",
        );
      },
    },
    {
      name: "call on the pool",
      weight: 30,
      async run({ plugin }) {
        const n = upTo(1e6);
        const answer = await plugin.channel("echo/method/pool").send(message(n));
        check(JSON.stringify(argsOf(answer)).includes(String(n)), "another answer");
      },
    },
    {
      name: "cancelled call",
      weight: 4,
      expected: ["AbortError", 20],
      async run({ plugin }) {
        const controller = new AbortController();
        const call = plugin.channel("echo/method/pool").send(message(1), { signal: controller.signal });
        queueMicrotask(() => controller.abort());
        await call;
      },
    },
    {
      name: "plugin's memory",
      weight: 8,
      async run({ plugin }) {
        const memory = plugin.allocate(2 ** Math.floor(random() * 21));
        plugin.channel("memset/shared").call(new Uint8Array([7]), [memory]);
        check(memory.bytes.at(-1) === 7, "the plugin's memory was not filled");
        memory.release();
      },
    },
    {
      name: "lent memory",
      weight: 8,
      expected: ["would-copy"],
      async run({ plugin }) {
        const mine = new Uint8Array(2 ** Math.floor(random() * 21));
        const lent = plugin.lend(mine);
        plugin.channel("memset/shared").call(new Uint8Array([9]), [lent]);
        lent.release();
        await lent.returned;
        check(mine.at(-1) === 9, "the lent memory was not filled");
      },
    },
    {
      name: "events",
      weight: 2,
      async run({ plugin }) {
        const count = upTo(50);
        const readings = plugin.channel("sensor").listen({ arguments: encode({ rate: 10_000, count }), items: 256 });
        let read = 0;
        for await (const reading of readings) {
          read++;
          reading.release();
        }
        check(read + readings.dropped === count, `${read} of ${count} events arrived, ${readings.dropped} dropped`);
      },
    },
    {
      name: "listener that leaves",
      weight: 2,
      async run({ plugin }) {
        const readings = plugin
          .channel("sensor")
          .listen({ arguments: encode({ rate: 10_000, count: 1000 }), items: 16 });
        let left = upTo(10);
        for await (const reading of readings) {
          reading.release();
          if (left-- === 0) break;
        }
      },
    },
  ];
};

/** Opens the part. */
export async function open({ random, tally }) {
  const plugin = await loadPlugin(plugins.c.example);
  return {
    plugin,
    width: 8,
    renewEach: 1 / 5000,
    closing: ["closed"],
    operations: operations(random),
    async close() {
      await plugin.close();
      const { leaked } = plugin.stats();
      if (leaked) tally.unexpected(`a closed plugin has leaked: ${JSON.stringify(leaked)}`);
    },
  };
}
