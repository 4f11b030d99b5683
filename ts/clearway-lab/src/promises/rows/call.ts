// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures consecutive trivial calls, and calls after idle time, in each of the three states of the cores.

import { CORE_STATE_TEXT, CORE_STATES, type CoreState, keptAwake, whyNotPinned } from "../../machine/cores.js";
import type { HostName, Params } from "../../protocol/message.js";
import { bestOf, median, quantile, ratio, type Spread } from "../../statistics/rounds.js";
import type { Collector, Given } from "../collect.js";
import { twinOf } from "../probe/call.mjs";
import type { RowContext } from "../run.js";
import { known, learn, peersOf, subjectOf } from "./subjects.js";

const reference = "postMessage";

/** The result of the probe `call` for a subject: the p50 of each round, all samples, and whether both threads were on one core. */
interface Called {
  p50Us: number[];
  samplesUs: number[];
  onOneCore: (boolean | null | "both")[];
}
type Figures = Record<string, Called>;

export async function call({ host, collect, settings, seed }: RowContext): Promise<void> {
  await learn(host);
  // A page's clock has steps of 5 us, several times the length of a call through the ring. Pages therefore time calls in groups.
  const group = host.name === "chromium" ? 20 : 1;
  const plans = [
    { gapMs: 0, passes: 1, slice: 200 / group, rounds: settings["rounds"], roles: ["clearway", "peer", "reference"] },
    // The passes are short, because the wake-up time of a halted core changes within a second. This plan has no peers.
    { gapMs: 2, passes: 5, slice: 4, rounds: settings["gapRounds"], roles: ["clearway", "reference"] },
  ];
  for (const state of CORE_STATES) {
    const why = whyNotPinned(state);
    if (why !== undefined) {
      collect.unmeasured("call-over-peer", host.name, { of: "clearway", state: CORE_STATE_TEXT[state] }, why);
      continue;
    }
    const probe = () => host.probe<Figures[]>("call", { state, plans, group, seed });
    const figures = await (state === "awake" ? keptAwake(probe) : probe());
    for (const [at, plan] of plans.entries()) enter(host.name, state, plan.gapMs, figures[at] as Figures, collect);
  }
  for (const subject of known(host.name, 1)) {
    if (subject.unavailable !== undefined)
      collect.absent("call", host.name, subject, { threads: 1 }, subject.unavailable);
  }
}

function enter(host: HostName, state: CoreState, gapMs: number, figures: Figures, collect: Collector): void {
  const p50 = Object.fromEntries(Object.entries(figures).map(([name, { p50Us }]) => [name, p50Us]));
  const of = (name: string) => p50[name] as number[];
  const params = { gapMs, state, inFlight: 1, threads: 1 };
  for (const [name, { samplesUs, onOneCore }] of Object.entries(figures)) {
    const twin = name === twinOf(reference);
    const told = onOneCore.filter((each) => typeof each === "boolean");
    const metrics: Record<string, Given> = { latency: { unit: "us", samples: samplesUs } };
    if (told.length > 0 && state === "free")
      metrics["onOneCore"] = { unit: "%", value: (told.filter(Boolean).length / told.length) * 100 };
    const own: Params = twin ? { ...params, control: "A/A" } : params;
    collect.measured("call", host, subjectOf(host, twin ? reference : name), own, metrics);
  }
  floor(host, params, of(reference), of(twinOf(reference)), collect);
  const about = { of: "clearway", over: reference, state: CORE_STATE_TEXT[state] };
  const inUs = (...names: string[]) => `${names.map((name) => median(of(name)).toFixed(1)).join(" over ")} us`;
  const against = (mine: string, theirs: string) => alike(figures, mine, theirs);
  if (gapMs > 0) {
    const detail = inUs("clearway", reference);
    collect.promise("gap-over-bare", host, { ...about, detail }, against("clearway", reference));
    return;
  }
  delete p50[twinOf(reference)];
  const peer = bestOf(peersOf(host, p50), "low") as string;
  // Rounds are not paired by core: a mechanism that keeps its worker awake also keeps the worker on a separate core.
  collect.promise(
    "call-over-peer",
    host,
    { ...about, over: peer, detail: inUs(peer, "clearway") },
    ratio(of(peer), of("clearway")),
  );
  collect.promise(
    "call-over-bare",
    host,
    { ...about, detail: inUs(reference, "clearway") },
    ratio(of(reference), of("clearway")),
  );
  // If there is no "clearway port", "clearway" itself uses the message port.
  const port = p50["clearway port"] ? "clearway port" : "clearway";
  collect.promise(
    "port-over-bare",
    host,
    { ...about, of: port, detail: inUs(port, reference) },
    against(port, reference),
  );
}

/**
 * Returns the ratio over rounds in which both pairs of threads ran on one core, or both on two cores. Other rounds would compare the
 * scheduler's choices instead of the mechanisms. Uses all rounds if the cores are unknown.
 */
function alike(figures: Figures, mine: string, theirs: string): Spread {
  const [own, other] = [figures[mine], figures[theirs]] as [Called, Called];
  const same = own.onOneCore.map((each, round) => each !== "both" && each === other.onOneCore[round]);
  // Fewer than four rounds have no meaningful middle half.
  const use = same.filter(Boolean).length < 4 ? same.map(() => true) : same;
  const used = ({ p50Us }: Called) => p50Us.filter((_, round) => use[round]);
  return ratio(used(own), used(other));
}

/** Records how much the reference differs from its second worker: the 75th percentile of the ratios of its rounds. */
function floor(host: HostName, params: Params, own: number[], twin: number[], collect: Collector): void {
  const apart = own.map((value, round) => {
    const other = twin[round] as number;
    return Math.max(value / other, other / value);
  });
  collect.noise("call", host, reference, params, quantile(apart, 0.75), apart.length);
}
