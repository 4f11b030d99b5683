// SPDX-License-Identifier: MIT OR Apache-2.0
// One trivial call after the other, and after idling, in each of the three states of the cores.

import { keptAwake, states, stateText, whyNot } from "../host/cores.mjs";
import { twinOf } from "../probe/call.mjs";
import { bestOf, median, quantile, ratio } from "../statistics.mjs";
import { known, peersOf, subjectOf } from "./subjects.mjs";

const reference = "postMessage";

export async function call({ host, collect, settings, seed }) {
  // A page's clock steps by 5 us, several times what a call by the ring takes: calls are timed in groups there.
  const group = host.name === "chromium" ? 20 : 1;
  const plans = [
    { gapMs: 0, slice: 240 / group, rounds: settings.callRounds },
    { gapMs: 2, slice: 20, rounds: settings.gapRounds },
  ];
  for (const state of states) {
    const why = whyNot(state);
    if (why !== undefined) {
      collect.unmeasured("call-over-peer", host.name, { of: "clearway", state: stateText[state] }, why);
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
    const told = onOneCore.filter((each) => each !== null);
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
  const { [reference]: bare, clearway, "clearway port": port } = p50;
  const about = { of: "clearway", over: reference, state: stateText[state] };
  if (gapMs > 0) {
    collect.promise("gap-over-bare", host, about, ratio(clearway, bare));
    return;
  }
  delete p50[twinOf(reference)];
  const peer = bestOf(peersOf(host, p50), "low");
  const shown = `${median(p50[peer]).toFixed(1)} us over ${median(clearway).toFixed(1)}`;
  collect.promise("call-over-peer", host, { ...about, over: peer, detail: shown }, ratio(p50[peer], clearway));
  collect.promise("call-over-bare", host, about, ratio(bare, clearway));
  // Where the port is the only carrier, it is what "clearway" stands for.
  collect.promise(
    "port-over-bare",
    host,
    { ...about, of: port ? "clearway port" : "clearway" },
    ratio(port ?? clearway, bare),
  );
}

/** How far the reference lay from itself: the outer bound of the middle half of its rounds, as a factor. */
function floor(host, params, p50, collect) {
  const apart = p50[reference].map((value, round) => {
    const other = p50[twinOf(reference)][round];
    return Math.max(value / other, other / value);
  });
  collect.noiseFloor.push({
    family: "bench",
    scenario: "call",
    host,
    params,
    mechanism: reference,
    metric: "latency.p50",
    ratio: Number(quantile(apart, 0.75).toPrecision(4)),
    rounds: apart.length,
  });
}
