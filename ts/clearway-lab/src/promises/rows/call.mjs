// SPDX-License-Identifier: MIT OR Apache-2.0
// Consecutive trivial calls, and calls after idling, in each of the three states of the cores.

import { CORE_STATE_TEXT, CORE_STATES, keptAwake, whyNotPinned } from "../../machine/cores.ts";
import { bestOf, median, quantile, ratio } from "../../statistics/rounds.ts";
import { twinOf } from "../probe/call.mjs";
import { known, learn, peersOf, subjectOf } from "./subjects.mjs";

const reference = "postMessage";

export async function call({ host, collect, settings, seed }) {
  await learn(host);
  // A page's clock steps by 5 us, several times the length of a call through the ring. Pages therefore time calls in groups.
  const group = host.name === "chromium" ? 20 : 1;
  const plans = [
    { gapMs: 0, passes: 1, slice: 200 / group, rounds: settings.rounds, roles: ["clearway", "peer", "reference"] },
    // Short passes, because the time a halted core takes to wake changes within a second. This plan has no peers.
    { gapMs: 2, passes: 5, slice: 4, rounds: settings.gapRounds, roles: ["clearway", "reference"] },
  ];
  for (const state of CORE_STATES) {
    const why = whyNotPinned(state);
    if (why !== undefined) {
      collect.unmeasured("call-over-peer", host.name, { of: "clearway", state: CORE_STATE_TEXT[state] }, why);
      continue;
    }
    const probe = () => host.probe("call", { state, plans, group, seed });
    const figures = await (state === "awake" ? keptAwake(probe) : probe());
    for (const [at, plan] of plans.entries()) enter(host.name, state, plan, figures[at], collect);
  }
  for (const { name, unavailable } of known(host.name, 1).filter(({ unavailable }) => unavailable !== undefined))
    collect.absent("call", host.name, subjectOf(host.name, name), { threads: 1 }, unavailable);
}

function enter(host, state, { gapMs }, figures, collect) {
  const p50 = Object.fromEntries(Object.entries(figures).map(([name, { p50Us }]) => [name, p50Us]));
  const params = { gapMs, state, inFlight: 1, threads: 1 };
  for (const [name, { samplesUs, onOneCore }] of Object.entries(figures)) {
    const twin = name === twinOf(reference);
    const told = onOneCore.filter((each) => typeof each === "boolean");
    collect.measured(
      "call",
      host,
      subjectOf(host, twin ? reference : name),
      { ...params, ...(twin ? { control: "A/A" } : {}) },
      {
        latency: { unit: "us", samples: samplesUs },
        ...(told.length > 0 && state === "free"
          ? { onOneCore: { unit: "%", value: (told.filter(Boolean).length / told.length) * 100 } }
          : {}),
      },
    );
  }
  floor(host, params, p50, collect);
  const about = { of: "clearway", over: reference, state: CORE_STATE_TEXT[state] };
  const inUs = (...names) => `${names.map((name) => median(p50[name]).toFixed(1)).join(" over ")} us`;
  const against = (mine, theirs) => alike(figures, mine, theirs);
  if (gapMs > 0) {
    const detail = inUs("clearway", reference);
    collect.promise("gap-over-bare", host, { ...about, detail }, against("clearway", reference));
    return;
  }
  delete p50[twinOf(reference)];
  const peer = bestOf(peersOf(host, p50), "low");
  // Not paired by core: a carrier that keeps its worker awake also keeps it on a separate core.
  collect.promise(
    "call-over-peer",
    host,
    { ...about, over: peer, detail: inUs(peer, "clearway") },
    ratio(p50[peer], p50.clearway),
  );
  collect.promise(
    "call-over-bare",
    host,
    { ...about, detail: inUs(reference, "clearway") },
    ratio(p50[reference], p50.clearway),
  );
  // If the port is the only carrier, "clearway" uses it.
  const port = p50["clearway port"] ? "clearway port" : "clearway";
  collect.promise(
    "port-over-bare",
    host,
    { ...about, of: port, detail: inUs(port, reference) },
    against(port, reference),
  );
}

/**
 * Returns the ratio over rounds in which both pairs of threads were seen on one core, or both on two. When the scheduler decides, other
 * rounds would compare its choices and not the carriers. Uses all rounds if nothing was seen.
 */
function alike(figures, mine, theirs) {
  const same = figures[mine].onOneCore.map(
    (each, round) => each !== "both" && each === figures[theirs].onOneCore[round],
  );
  // Fewer than four rounds have no middle half.
  const use = same.filter(Boolean).length < 4 ? same.map(() => true) : same;
  const of = (name) => figures[name].p50Us.filter((_, round) => use[round]);
  return ratio(of(mine), of(theirs));
}

/** Records how far the reference differs from itself: the 75th percentile of its rounds' ratios. */
function floor(host, params, p50, collect) {
  const apart = p50[reference].map((value, round) => {
    const other = p50[twinOf(reference)][round];
    return Math.max(value / other, other / value);
  });
  collect.noise("call", host, reference, params, quantile(apart, 0.75), apart.length);
}
