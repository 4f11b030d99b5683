// SPDX-License-Identifier: MIT OR Apache-2.0
// "Which way, in which language": the mechanisms of all hosts under one load of a live stream, by the way in which they hand an event over.
import type { HostName } from "../../protocol/message.js";
import { clockStepUsOf, metricsFor, type RecordedCell, type Results, type RunRecord } from "../../run/record.js";
import { inOrder } from "../../scenario/scenario.js";
import type { Distribution } from "../../statistics/distribution.js";
import { hostTitle } from "../host-titles.js";
import { shown, shownTime } from "../number.js";
import { MARKED_FIGURES } from "./marks.js";
import { NO_FIGURE, type RowView, type TableView } from "./table.js";

interface Way {
  title: string;
  /** The mechanisms of each host. The first one that the run measured is shown. */
  mechanisms: Record<string, string[]>;
}

const js = (...names: string[]) => ({ node: names, chromium: names });

/** From the shortest way to the longest. A host has no mechanism for some of them. */
const WAYS: readonly Way[] = [
  { title: "direct call", mechanisms: { ...js("direct"), jvm: ["direct"], swift: ["delegate"] } },
  { title: "call under a lock", mechanisms: { ...js("lock"), jvm: ["reentrant-lock"], swift: ["delegate-nslock"] } },
  {
    title: "observable",
    mechanisms: { ...js("rxjs-subject"), jvm: ["rxjava-subject"], swift: ["combine-subject"] },
  },
  {
    title: "queue",
    mechanisms: { ...js("async-queue"), jvm: ["single-thread-executor"], swift: ["dispatch-queue"] },
  },
  {
    title: "observable on a queue",
    mechanisms: { ...js("rxjs-observeon-asap"), jvm: ["rxjava-observeon"], swift: ["combine-queue"] },
  },
  {
    title: "stream that makes events",
    mechanisms: { ...js("async-generator"), swift: ["async-stream-unfolding"] },
  },
  {
    title: "stream with a buffer",
    mechanisms: { ...js("web-streams"), jvm: ["kotlin-channel"], swift: ["async-stream"] },
  },
  { title: "actor", mechanisms: { jvm: ["actor"], swift: ["actor-task", "actor-mailbox"] } },
  { title: "actor that yields to an actor", mechanisms: { swift: ["actor-stream"] } },
  { title: "main actor", mechanisms: { swift: ["main-actor-task"] } },
  { title: "message of a worker", mechanisms: js("worker-postmessage") },
  {
    title: "Clearway",
    mechanisms: { ...js("clearway-stream"), jvm: ["clearway-ordered"], swift: ["clearway-stream"] },
  },
];

export interface WayPoint {
  host: HostName;
  /** The title of the mechanism. */
  title: string;
  latency: Distribution;
  /** A time below the clock's step is only known to be smaller. In microseconds. */
  clockStepUs: number;
  /** The letter of the added run that measured it. */
  added?: string;
}

export interface WayRow {
  title: string;
  points: WayPoint[];
}

export interface WaysView {
  /** The load in words. */
  load: string;
  hosts: HostName[];
  rows: WayRow[];
}

/** Returns the view of the load that the most hosts have, or undefined if no two hosts have the same load. */
export function waysView(results: Results, record: RunRecord): WaysView | undefined {
  const loads = new Map<string, RecordedCell[]>();
  for (const cell of record.cells) {
    const load = loadOf(cell);
    if (load !== undefined && cell.rounds.length > 0) loads.set(load, [...(loads.get(load) ?? []), cell]);
  }
  const all = [...loads].map(([load, cells]) => viewOf(results, record, load, cells));
  // The published load comes first among those that as many hosts have.
  const rank = ({ hosts, rows, load }: WaysView) =>
    hosts.length * 1e6 + (load.startsWith("60 ") ? 1e3 : 0) + rows.reduce((sum, { points }) => sum + points.length, 0);
  const [best] = all.sort((a, b) => rank(b) - rank(a));
  return best !== undefined && best.hosts.length > 1 ? best : undefined;
}

/** The scenarios of plain streams, of each host and of the published experiment. */
const IS_STREAM = /^(published-)?stream(-published)?(-(jvm|flutter|swift))?$/;

/** Returns the load that cells of different scenarios share. Undefined if the cell is not of a plain stream. */
function loadOf({ scenario, params }: RecordedCell): string | undefined {
  const { perSecond, payloadBytes, receiver, loop, cores } = params;
  if (!IS_STREAM.test(scenario)) return undefined;
  if (typeof perSecond !== "number" || payloadBytes !== 8 || receiver !== "idle" || cores === "one") return undefined;
  const closed = loop === "closed" || scenario.startsWith("published-");
  return `${shown(perSecond)} events/s, ${closed ? "closed loop, stamped when sent" : "open loop, from the intended time"}`;
}

function viewOf(results: Results, record: RunRecord, load: string, cells: readonly RecordedCell[]): WaysView {
  const rows = WAYS.map(({ title, mechanisms }): WayRow => {
    const points = inOrder(Object.keys(mechanisms)).flatMap((host): WayPoint[] => {
      for (const name of mechanisms[host] ?? []) {
        // A run may have measured a way twice: for a short time in an hour of all experiments, and for the published one later.
        const [cell] = cells
          .filter((each) => each.host === host && each.mechanism === name)
          .sort((a, b) => Number(b.params["count"]) - Number(a.params["count"]));
        const latency = cell === undefined ? undefined : metricsFor(results, record, cell)["latency"];
        if (cell !== undefined && latency !== undefined && "p50" in latency) {
          const clockStepUs = clockStepUsOf(record, cell, "latency");
          return [{ host, title: cell.title, latency, clockStepUs, added: cell.added }];
        }
      }
      return [];
    });
    return { title, points };
  }).filter(({ points }) => points.length > 0);
  return { load, hosts: inOrder([...new Set(rows.flatMap(({ points }) => points.map(({ host }) => host)))]), rows };
}

/** Returns the table of all languages, if the run has several. */
export function waysTable(results: Results, record: RunRecord): TableView[] {
  const view = waysView(results, record);
  if (view === undefined) return [];
  const { load, hosts, rows } = view;
  const mixed = rows.some(({ points }) => points.some(({ added }) => added !== undefined));
  const own = rows.map(({ title, points }): RowView => {
    const cells = hosts.flatMap((host) => {
      const point = points.find((each) => each.host === host);
      if (point === undefined) return [NO_FIGURE, NO_FIGURE];
      const { latency, clockStepUs } = point;
      const [p50, p99] = [latency.p50, latency.p99].map((figure) => shownTime(figure, clockStepUs)) as [string, string];
      return [
        point.added === undefined ? p50 : `${p50} ${point.added}`,
        latency.unsupported?.includes("p99") ? `(${p99})` : p99,
      ];
    });
    return { title, authors: false, clearway: title === "Clearway", cells };
  });
  const columns = hosts.flatMap((host) => ["p50", "p99"].map((figure) => `${hostTitle(host)}, ${figure} (µs)`));
  return [
    {
      title: `Which way, in which language: ${load}`,
      head: ["way", ...columns],
      rows: own,
      notes: mixed ? [MARKED_FIGURES] : [],
    },
  ];
}
