// SPDX-License-Identifier: MIT OR Apache-2.0
// The arms that exist in Node only. A page has none of them.
import type { OpenArm } from "./work.js";

const channel = (payload: string, codec: "standard" | "binary") => ({
  [`channel-clearway-${payload}`]: async () => (await import("./works/channel.js")).clearway(payload, codec),
  [`channel-clone-${payload}`]: async () => (await import("./works/channel.js")).cloned(payload, codec),
});

export const nodeArms: Record<string, () => Promise<OpenArm>> = {
  "pool-clearway": async () => (await import("./works/pool.js")).clearway,
  "pool-bare": async () => (await import("./works/pool.js")).bare,
  ...channel("null", "standard"),
  ...channel("2 KB", "standard"),
  ...channel("1 MB", "binary"),
  "push-clearway": async () => (await import("./works/push.js")).clearway,
  "push-bare": async () => (await import("./works/push.js")).bare,
  "codec-clearway": async () => (await import("./works/codec.js")).clearway,
  "codec-msgpackr": async () => (await import("./works/codec.js")).msgpackr,
  "memset-clearway": async () => (await import("./works/memset.js")).clearway,
  "memset-c": async () => (await import("./works/memset.js")).c,
  "batch-direct": async () => (await import("./works/batch.js")).direct,
  "batch-clearway": async () => (await import("./works/batch.js")).clearway,
  "batch-piscina": async () => (await import("./works/batch.js")).piscina,
};
