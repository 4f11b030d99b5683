// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures consecutive trivial calls, and calls after idle time, in each of the three states of the cores.

import { CORE_STATE_TEXT, CORE_STATES, type CoreState, pinningProblem, withCoresAwake } from "../../machine/cores.js";
import type { HostName, Params } from "../../protocol/message.js";
import { bestOf, median, quantile, ratio, type Spread } from "../../statistics/rounds.js";
import type { Collector, MetricInput } from "../collector.js";
import { twinOf } from "../probe/call.mjs";
import type { MeasurementContext } from "../run.js";
import { loadMechanisms, mechanismOf, mechanismsOn, peersOf } from "./mechanisms.js";

const reference = "postMessage";

/** The result of the probe `call` for a mechanism: the p50 of each round, all samples, and whether both threads were on one core. */
interface CallFigures {
  p50Us: number[];
  samplesUs: number[];
  onOneCore: (boolean | null | "both")[];
}
type FiguresByMechanism = Record<string, CallFigures>;

export async function call({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  await loadMechanisms(host);
  // A page's clock has steps of 5 us, several times the length of a call through the ring. Pages therefore time calls in groups.
  const group = host.name === "chromium" ? 20 : 1;
  const plans = [
    { gapMs: 0, passes: 1, slice: 200 / group, rounds: amounts["rounds"], roles: ["clearway", "peer", "reference"] },
    // The passes are short, because the wake-up time of a halted core changes within a second. This plan has no peers.
    { gapMs: 2, passes: 5, slice: 4, rounds: amounts["gapRounds"], roles: ["clearway", "reference"] },
  ];
  for (const state of CORE_STATES) {
    const why = pinningProblem(state);
    if (why !== undefined) {
      collector.addMissingPromise(
        "call-over-peer",
        host.name,
        { mechanism: "clearway", state: CORE_STATE_TEXT[state] },
        why,
      );
      continue;
    }
    const probe = () => host.probe<FiguresByMechanism[]>("call", { state, plans, group, seed });
    const figures = await (state === "awake" ? withCoresAwake(probe) : probe());
    for (const [at, plan] of plans.entries())
      addFigures(host.name, state, plan.gapMs, figures[at] as FiguresByMechanism, collector);
  }
  for (const mechanism of mechanismsOn(host.name, 1)) {
    if (mechanism.unavailable !== undefined)
      collector.addMissingMeasurement("call", host.name, mechanism, { threads: 1 }, mechanism.unavailable);
  }
}

function addFigures(
  host: HostName,
  state: CoreState,
  gapMs: number,
  figures: FiguresByMechanism,
  collector: Collector,
): void {
  const p50 = Object.fromEntries(Object.entries(figures).map(([name, { p50Us }]) => [name, p50Us]));
  const p50Of = (name: string) => p50[name] as number[];
  const params = { gapMs, state, inFlight: 1, threads: 1 };
  for (const [name, { samplesUs, onOneCore }] of Object.entries(figures)) {
    const isTwin = name === twinOf(reference);
    const knownCores = onOneCore.filter((each) => typeof each === "boolean");
    const metrics: Record<string, MetricInput> = { latency: { unit: "us", samples: samplesUs } };
    if (knownCores.length > 0 && state === "free")
      metrics["onOneCore"] = { unit: "%", value: (knownCores.filter(Boolean).length / knownCores.length) * 100 };
    const cellParams: Params = isTwin ? { ...params, control: "A/A" } : params;
    collector.addMeasurement("call", host, mechanismOf(host, isTwin ? reference : name), cellParams, metrics);
  }
  addNoiseFloor(host, params, p50Of(reference), p50Of(twinOf(reference)), collector);
  const labels = { mechanism: "clearway", over: reference, state: CORE_STATE_TEXT[state] };
  const inUs = (...names: string[]) => `${names.map((name) => median(p50Of(name)).toFixed(1)).join(" over ")} us`;
  const comparedWith = (mine: string, theirs: string) => ratioOnEqualCores(figures, mine, theirs);
  if (gapMs > 0) {
    const detail = inUs("clearway", reference);
    collector.addPromise("gap-over-bare", host, { ...labels, detail }, comparedWith("clearway", reference));
    return;
  }
  delete p50[twinOf(reference)];
  const peer = bestOf(peersOf(host, p50), "low") as string;
  // Rounds are not paired by core: a mechanism that keeps its worker awake also keeps the worker on a separate core.
  collector.addPromise(
    "call-over-peer",
    host,
    { ...labels, over: peer, detail: inUs(peer, "clearway") },
    ratio(p50Of(peer), p50Of("clearway")),
  );
  collector.addPromise(
    "call-over-bare",
    host,
    { ...labels, detail: inUs(reference, "clearway") },
    ratio(p50Of(reference), p50Of("clearway")),
  );
  // If there is no "clearway port", "clearway" itself uses the message port.
  const port = p50["clearway port"] ? "clearway port" : "clearway";
  collector.addPromise(
    "port-over-bare",
    host,
    { ...labels, mechanism: port, detail: inUs(port, reference) },
    comparedWith(port, reference),
  );
}

/**
 * Returns the ratio over rounds in which both pairs of threads ran on one core, or both on two cores. Other rounds would compare the
 * scheduler's choices instead of the mechanisms. Uses all rounds if the cores are unknown.
 */
function ratioOnEqualCores(figures: FiguresByMechanism, mine: string, theirs: string): Spread {
  const [own, other] = [figures[mine], figures[theirs]] as [CallFigures, CallFigures];
  const onEqualCores = own.onOneCore.map((each, round) => each !== "both" && each === other.onOneCore[round]);
  // Fewer than four rounds have no meaningful middle half.
  const usedRounds = onEqualCores.filter(Boolean).length < 4 ? onEqualCores.map(() => true) : onEqualCores;
  const p50OfUsedRounds = ({ p50Us }: CallFigures) => p50Us.filter((_, round) => usedRounds[round]);
  return ratio(p50OfUsedRounds(own), p50OfUsedRounds(other));
}

/** Records how much the reference differs from its second worker: the 75th percentile of the ratios of its rounds. */
function addNoiseFloor(host: HostName, params: Params, first: number[], second: number[], collector: Collector): void {
  const factors = first.map((value, round) => {
    const other = second[round] as number;
    return Math.max(value / other, other / value);
  });
  collector.addNoise("call", host, reference, params, quantile(factors, 0.75), factors.length);
}
