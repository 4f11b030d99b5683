// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the processor time of the meter's metrics, without the watch itself: counting the stalls of a busy app, and answering scrapes.
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { recordStalls, stallMetrics } from "clearway/meter/metrics";

const rounds = 9;
/** The seconds of an app's life that a round stands for. Only their work is done, without the waiting. */
const seconds = 60;
/** Far more than an app should have: a tenth of a second between two stalls is already a bad app. */
const stallsPerSecond = 100;
const scrapesPerSecond = 1;
const scopes = 20;

const stall = (at) => ({
  startMs: at,
  lengthMs: 5 + (at % 200),
  errorMs: 0,
  cause: ["app", "gc", "machine", "unknown"][at % 4],
  because: "",
  machineMs: 1,
  gcMs: 1,
  scripts: [],
  stacks: [],
  marks: [{ label: `mark ${at % 20}`, overlapMs: 3 }],
});

class Reader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** Returns the processor time of one round of work, as a share of a core over the seconds that the round stands for. */
async function shareOf(onStalls, scrape) {
  const from = process.cpuUsage();
  for (let second = 0; second < seconds; second++) {
    for (let at = 0; at < stallsPerSecond; at++) onStalls[at % onStalls.length](stall(at));
    for (let at = 0; at < scrapesPerSecond; at++) await scrape();
  }
  const { user, system } = process.cpuUsage(from);
  return ((user + system) / 1e6 / seconds) * 100;
}

async function samplesOf(onStalls, scrape) {
  await shareOf(onStalls, scrape); // the optimiser compiles the code in this round
  const samples = [];
  for (let round = 0; round < rounds; round++) samples.push(await shareOf(onStalls, scrape));
  return samples;
}

/** Yields one figure for Prometheus and one for OpenTelemetry. Takes a few seconds. */
export async function* metrics() {
  const load = `${stallsPerSecond} stalls and ${scrapesPerSecond} scrape a second, ${scopes} scopes`;
  const figure = { unit: "% of a core", sense: "at most", limit: 0.5 };
  const prometheus = stallMetrics();
  const labelled = Array.from({ length: scopes }, (_, at) => prometheus.scope({ thread: String(at) }));
  const text = () => prometheus.exposition("application/openmetrics-text");
  const counted = await samplesOf(
    labelled.map(({ onStall }) => onStall),
    text,
  );
  yield { ...figure, name: `processor time of the metrics for Prometheus: ${load}`, samples: counted };
  const reader = new Reader();
  const meter = new MeterProvider({ readers: [reader] }).getMeter("clearway");
  const attributed = Array.from({ length: scopes }, (_, at) => recordStalls(meter, { attributes: { thread: at } }));
  const recorded = await samplesOf(
    attributed.map(({ onStall }) => onStall),
    () => reader.collect(),
  );
  yield { ...figure, name: `processor time of the metrics for OpenTelemetry: ${load}`, samples: recorded };
}
