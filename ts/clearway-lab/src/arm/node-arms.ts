// SPDX-License-Identifier: MIT OR Apache-2.0
// The arms that exist in Node only. A page has none of them.
import { type OpenArm, timedSync } from "./work.js";

const channel = (payload: string, codec: "standard" | "binary") => ({
  [`channel-clearway-${payload}`]: async () => (await import("./works/channel.js")).clearway(payload, codec),
  [`channel-clone-${payload}`]: async () => (await import("./works/channel.js")).cloned(payload, codec),
});

const stdio = (payload: string, codec: "standard" | "binary") => ({
  [`stdio-clearway-${payload}`]: async () => (await import("./works/channel.js")).stdioClearway(payload, codec),
  [`stdio-ipc-${payload}`]: async () => (await import("./works/channel.js")).stdioIpc(payload, codec),
});

const native = (payload: string) => ({
  [`native-clearway-${payload}`]: async () => (await import("./works/native.js")).clearway(payload),
  [`native-addon-${payload}`]: async () => (await import("./works/native.js")).addon(payload),
});

const TURNS = 20_000;

/** A loop that computes, with a given share of further turns. It shows whether the engine finds a known difference. */
const loop = (percent: number) => ({
  [`loop-${percent}`]: async (): Promise<OpenArm> => () => {
    const turns = TURNS * (1 + percent / 100);
    const run = (): number => {
      let state = 1;
      for (let turn = 0; turn < turns; turn++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return state;
    };
    return { works: { turns: timedSync(run, 1) }, close: () => {} };
  },
});

export const nodeArms: Record<string, () => Promise<OpenArm>> = {
  ...loop(0),
  ...loop(5),
  ...loop(10),
  ...loop(30),
  "pool-clearway-port": async () => (await import("./works/pool.js")).clearwayPort,
  "push-clearway-port": async () => (await import("./works/push.js")).clearwayPort,
  "pool-piscina": async () => (await import("./works/pool.js")).piscina,
  ...channel("null", "standard"),
  ...channel("2 KB", "standard"),
  ...channel("1 MB", "binary"),
  ...stdio("null", "standard"),
  ...stdio("2 KB", "standard"),
  ...stdio("1 MB", "binary"),
  ...native("null"),
  ...native("2 KB"),
  "native-clearway-1 MB": async () => (await import("./works/native.js")).lent,
  "table-column": async () => (await import("./works/table.js")).column,
  "table-rows": async () => (await import("./works/table.js")).rows,
  "table-none": async () => (await import("./works/table.js")).plain,
  "remote-clearway": async () => (await import("./works/remote.js")).remote("clearway", 1),
  "remote-clearway-two": async () => (await import("./works/remote.js")).remote("clearway", 2),
  "remote-nats": async () => (await import("./works/remote.js")).remote("nats-request", 1),
  "remote-clearway-durable": async () => (await import("./works/remote.js")).remote("clearway-durable", 1),
  "remote-jetstream": async () => (await import("./works/remote.js")).remote("jetstream", 1),
  "codec-clearway": async () => (await import("./works/codec.js")).clearway,
  "codec-msgpackr": async () => (await import("./works/codec.js")).msgpackr,
  "memset-clearway": async () => (await import("./works/native.js")).fillByPlugin,
  "memset-c": async () => (await import("./works/native.js")).fillByC,
  "batch-direct": async () => (await import("./works/batch.js")).direct,
  "batch-clearway": async () => (await import("./works/batch.js")).clearway,
  "batch-piscina": async () => (await import("./works/batch.js")).piscina,
};
