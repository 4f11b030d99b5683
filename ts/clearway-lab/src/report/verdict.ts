// SPDX-License-Identifier: MIT OR Apache-2.0
// Summarises the run in a few sentences. Every sentence gives a comparison that is larger than the noise, or states that the noise is
// too large.
import type { HostName } from "../protocol/message.js";
import { answersOf } from "../run/answer.js";
import { compareCells, sameParams } from "../run/floor.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Metric, Results } from "../run/results.js";
import { HOST_NAMES } from "../scenario/scenario.js";
import type { Distribution } from "../statistics/distribution.js";
import { answersHeadline, answerText } from "./answer-text.js";
import { experimentLines } from "./experiments/findings-text.js";
import { hostTitle } from "./host-titles.js";
import { shown, times } from "./number.js";
import { worstSentence } from "./offload/worst.js";
import { metricsFor } from "./table.js";

export function verdictOf(results: Results, record: RunRecord): string[] {
  const answers = record.questions === undefined ? [] : answersOf(record, record.questions);
  if (answers.length > 0) return [answersHeadline(answers), ...answers.map(answerText)];
  if (record.experiments !== undefined) return experimentLines(record);
  const sentences = [
    studentsSentence,
    poolSentence,
    memorySentence,
    streamSentence,
    channelSentence,
    offloadSentence,
    remoteSentence,
    durableSentence,
    crossoverSentence,
  ].flatMap((sentence) => HOST_NAMES.flatMap((host) => sentence(results, record, host)));
  if (sentences.length > 0) return sentences;
  const measured = record.cells.some((cell) => cell.rounds.length > 0);
  return [measured ? "This run measured too few mechanisms for a comparison." : "Nothing was measured."];
}

/** Returns the cells of two mechanisms with the same parameters. Uses the first parameters that both mechanisms have. */
function pair(
  record: RunRecord,
  host: HostName,
  scenario: string,
  subject: string,
  reference: string,
  keep: (cell: RecordedCell) => boolean = () => true,
) {
  for (const cell of record.cells) {
    if (cell.control || cell.host !== host || cell.scenario !== scenario || cell.mechanism !== subject) continue;
    if (cell.rounds.length === 0 || !keep(cell)) continue;
    const other = record.cells.find(
      (each) =>
        !each.control &&
        each.host === host &&
        each.scenario === scenario &&
        each.mechanism === reference &&
        each.rounds.length > 0 &&
        sameParams(each.params, cell.params),
    );
    if (other !== undefined) return [cell, other] as const;
  }
  return undefined;
}

function studentsSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found = pair(record, host, "students", "clearway-records", "worker-clone");
  if (found === undefined) return [];
  const [ours, clone] = found;
  const stall = (cell: RecordedCell) => shown(numberOf(metricsFor(results, record, cell)["longestStall"]));
  const comparison = compareCells(record, ours, clone, "longestStall", results.noiseFloor);
  const rows = shown(ours.params["rows"] as number);
  const facts = `${rows} records blocked ${hostTitle(host)}'s main thread for ${stall(clone)} ms when cloned from a worker, and for ${stall(ours)} ms when moved as Clearway records`;
  if (comparison === undefined || comparison.verdict === "no difference seen")
    return [`${facts}; the run is too noisy for a ratio.`];
  return [`${facts}: ${times(comparison.ratio)} as long.`];
}

function streamSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const calm = (cell: RecordedCell) =>
    cell.params["perSecond"] === 1000 && cell.params["receiver"] === "idle" && cell.params["payloadBytes"] === 8;
  const found = pair(record, host, "stream", "clearway-stream", "worker-postmessage", calm);
  if (found === undefined) return [];
  const [ours, bare] = found;
  const p50 = (cell: RecordedCell) => shown((metricsFor(results, record, cell)["latency"] as Distribution).p50);
  const comparison = compareCells(record, ours, bare, "latency.p50", results.noiseFloor);
  const facts = `an event from a worker reached ${hostTitle(host)}'s main thread in ${p50(ours)} us by Clearway's stream and in ${p50(bare)} us by a bare postMessage (medians at 1000 events/s)`;
  const said = spoken(comparison);
  return [`${facts[0]!.toUpperCase()}${facts.slice(1)}: ${said}.`];
}

function memorySentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found = pair(
    record,
    host,
    host === "jvm" ? "memset-jvm" : "memset",
    "clearway-shared",
    "c",
    ({ params }) => params["bytes"] === 8 << 20 && params["memory"] === "warm",
  );
  if (found === undefined) return [];
  const said = spoken(compareCells(record, found[0], found[1], "fill.p50", results.noiseFloor));
  const [ours, bare] = found.map((cell) => p50Of(results, record, cell, "fill"));
  const whose = host === "jvm" ? "of the JVM's" : "of JavaScript's";
  return [
    `Native code filled 8 MB ${whose} own memory in ${ours} us through a Clearway plugin, and C alone took ${bare} us: ${said}.`,
  ];
}

function channelSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found = pair(
    record,
    host,
    "channel-worker",
    "clearway",
    "structured-clone",
    ({ params }) => params["payload"] === "2 KB" && params["direction"] === "host to worker",
  );
  if (found === undefined) return [];
  const said = spoken(compareCells(record, found[0], found[1], "roundTrip.p50", results.noiseFloor));
  const [ours, bare] = found.map((cell) => p50Of(results, record, cell, "roundTrip"));
  return [
    `The round trip of a 2 KB message to a worker in ${hostTitle(host)} took ${ours} us through Clearway's channel and ${bare} us by structured clone over a bare port: ${said}.`,
  ];
}

/** The smallest call with one worker process: larger ones measure the copying of bytes. */
const isSmallest = ({ params }: RecordedCell) => params["processes"] === 1 && params["payloadBytes"] === 8;

function remoteSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found = pair(record, host, "remote-call", "clearway", "nats-request", isSmallest);
  if (found === undefined) return [];
  const said = spoken(compareCells(record, found[0], found[1], "roundTrip.p50", results.noiseFloor));
  const [ours, bare] = found.map((cell) => p50Of(results, record, cell, "roundTrip"));
  return [
    `A call to another process took ${ours} us through Clearway's remote pool in request mode, and a bare request of NATS took ${bare} us: ${said}.`,
  ];
}

function durableSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found =
    pair(record, host, "remote-durable", "clearway", "bullmq", isSmallest) ??
    pair(record, host, "remote-durable", "clearway", "jetstream", isSmallest);
  if (found === undefined) return [];
  const said = spoken(compareCells(record, found[0], found[1], "perCall", results.noiseFloor));
  const [ours, other] = found.map((cell) => shown(numberOf(metricsFor(results, record, cell)["callsPerSecond"])));
  return [
    `With ${found[0].params["inFlight"]} durable calls in flight, Clearway's remote pool made ${ours} a second, and ${found[1].title} ${other}; the time of a call: ${said}.`,
  ];
}

/** Says how long a task must be so that other machines can help. docs/scale-out.md derives it. */
function crossoverSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const cell = record.cells.find(
    (each) =>
      !each.control &&
      each.host === host &&
      each.scenario === "remote-call" &&
      each.mechanism === "clearway" &&
      each.rounds.length > 0 &&
      isSmallest(each),
  );
  if (cell === undefined) return [];
  const { cores } = record.machine;
  const us = numberOf(metricsFor(results, record, cell)["callerCpu"]);
  return [
    `A remote call cost its caller ${shown(us)} us of processor time. Beside a machine with the ${cores} cores of this one, other machines help with tasks that compute for longer than ${shown(us * cores)} us.`,
  ];
}

function p50Of(results: Results, record: RunRecord, cell: RecordedCell, metric: string): string {
  return shown((metricsFor(results, record, cell)[metric] as Distribution).p50);
}

function spoken(comparison: ReturnType<typeof compareCells>): string {
  return comparison === undefined || comparison.verdict === "no difference seen"
    ? "no difference seen"
    : `${times(comparison.ratio)} as long`;
}

function offloadSentence(_: Results, record: RunRecord, host: HostName): string[] {
  return worstSentence(record, host, "warm");
}

function poolSentence(results: Results, record: RunRecord, host: HostName): string[] {
  const found = pair(record, host, "pool", "clearway", "bare-worker", (cell) => cell.params["connection"] === "none");
  if (found === undefined) return [];
  const [ours, bare] = found;
  const p50 = (cell: RecordedCell) => shown((metricsFor(results, record, cell)["warmTask"] as Distribution).p50);
  const comparison = compareCells(record, ours, bare, "warmTask.p50", results.noiseFloor);
  const said = spoken(comparison);
  return [
    `A warm call in ${hostTitle(host)} took ${p50(ours)} us through Clearway's pool and ${p50(bare)} us by a bare worker: ${said}.`,
  ];
}

function numberOf(metric: Metric | undefined): number {
  return metric !== undefined && "value" in metric ? metric.value : Number.NaN;
}
