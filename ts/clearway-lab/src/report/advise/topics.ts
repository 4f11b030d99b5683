// SPDX-License-Identifier: MIT OR Apache-2.0
// What the advice compares with a frame, as data: payloads of several sizes, and the time that each costs.
import type { Params } from "../../protocol/message.js";
import { PUBLISHED_EXECUTORS } from "../../published/executors.js";
import { bytes, shown } from "../number.js";

export interface Topic {
  name: string;
  title: string;
  /** What the time means to the main thread: it is blocked for so long, or an answer arrives after so long. */
  meaning: "blocked" | "answered";
  scenarios: readonly string[];
  /** The name of a value, or of samples. */
  metric: string;
  /** Returns the payload's size, or undefined if the cell does not belong to the topic. */
  size(params: Params): number | undefined;
  /** Returns what distinguishes the tables of a topic. */
  group(params: Params): string;
  shownSize(size: number): string;
}

/** Sizes of the payloads of the channel scenarios, in bytes. The null message has no size. */
const PAYLOAD_BYTES: Record<string, number> = {
  "2 KB": 2 << 10,
  "4 KB": 4 << 10,
  "1000 items": 14_214,
  "1 MB": 1 << 20,
};

const numberOf = (value: Params[string] | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;

/** Sizes of the payloads of a channel, by the way in which they are encoded: bytes are not encoded at all. */
const channel = (name: string, title: string, scenarios: readonly string[]): Topic => ({
  name,
  title,
  meaning: "answered",
  scenarios,
  metric: "roundTrip",
  size: ({ channel: kind, payload }) => (kind === "message" ? PAYLOAD_BYTES[String(payload)] : undefined),
  group: ({ direction, codec }) => `${direction}, ${codec === "binary" ? "bytes" : "values"}`,
  shownSize: bytes,
});

export const TOPICS: readonly Topic[] = [
  {
    name: "records",
    title: "Records that reach the main thread",
    meaning: "blocked",
    scenarios: ["students"],
    metric: "longestStall",
    size: ({ rows }) => numberOf(rows),
    group: () => "",
    shownSize: (rows) => `${shown(rows)} rows`,
  },
  {
    name: "fetch",
    title: "A fetched body that is processed",
    meaning: "blocked",
    scenarios: ["fetch-image"],
    metric: "longestStall",
    size: ({ megabytes }) => (typeof megabytes === "number" ? megabytes << 20 : undefined),
    group: () => "",
    shownSize: bytes,
  },
  {
    name: "upload",
    title: "Chunks of an upload",
    meaning: "blocked",
    scenarios: ["upload"],
    metric: "longestStall",
    size: ({ chunkBytes }) => numberOf(chunkBytes),
    group: () => "",
    shownSize: bytes,
  },
  {
    name: "crossing",
    title: "A message between the main thread and a worker, bytes or objects",
    meaning: "blocked",
    scenarios: ["crossing"],
    metric: "stall",
    size: ({ bytes: size }) => numberOf(size),
    group: ({ direction }) => String(direction),
    shownSize: bytes,
  },
  channel("worker", "A message to a worker and back", ["channel-worker"]),
  channel("process", "A message to a process and back", ["channel-process", "channel-process-jvm"]),
  channel("native", "A message to native code and back", ["channel-native", "channel-native-jvm"]),
  {
    name: "stream",
    title: "An event of a stream",
    meaning: "answered",
    scenarios: ["stream", "stream-jvm"],
    metric: "latency",
    // The largest events come at 60 a second only. At other rates, the rate has more effect than the size.
    size: ({ payloadBytes, perSecond, receiver }) =>
      receiver === "idle" && (perSecond === 1000 || payloadBytes === 1 << 20) ? numberOf(payloadBytes) : undefined,
    group: () => "",
    shownSize: bytes,
  },
  {
    name: "fill",
    title: "A buffer that native code fills",
    meaning: "blocked",
    scenarios: ["memset", "memset-published", "memset-jvm"],
    metric: "fill",
    size: ({ bytes: size }) => numberOf(size),
    group: ({ memory }) => `${memory} memory`,
    shownSize: bytes,
  },
];

/** The scenarios that the advice uses. */
export const ADVISED_SCENARIOS: ReadonlySet<string> = new Set([
  ...TOPICS.flatMap(({ scenarios }) => scenarios),
  ...["works", "sizes", "changing-site", PUBLISHED_EXECUTORS],
]);

/** Returns how a topic shows its sizes. */
export function sizeText(topic: string): Topic["shownSize"] {
  return TOPICS.find(({ name }) => name === topic)?.shownSize ?? bytes;
}
