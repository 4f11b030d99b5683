// SPDX-License-Identifier: MIT OR Apache-2.0
// One mixed message of 2 KB, encoded and decoded by the standard codec and by its peers without shared records.
import { bestOf, median, ratio } from "../../statistics/rounds.ts";
import { codecs } from "../subject/codecs.mjs";

export async function codec({ host, collect, settings, seed }) {
  const figures = await host.probe("codec", { rounds: settings.rounds, seed });
  for (const { name, role, settings: how } of codecs) {
    const { us, bytes, changed } = figures[name];
    const told = changed.length > 0 ? `${how}; keys that come back changed: ${changed.join(", ")}` : how;
    const metrics = {
      latency: { unit: "us", samples: us },
      ...(bytes === undefined ? {} : { message: { unit: "bytes", value: bytes } }),
    };
    collect.measured("codec", host.name, { name, role, settings: told }, { value: "mixed 2 KB" }, metrics);
  }
  const named = (wanted) => codecs.filter(wanted).map(({ name }) => name);
  const best = (names) => bestOf(Object.fromEntries(names.map((name) => [name, figures[name].us])), "low");
  const whole = best(named(({ name, role }) => role === "peer" && figures[name].changed.length === 0));
  // Returning bytes instead of numbers is less work. For users who accept that, some peers are faster.
  const any = best(named(({ name, role }) => role === "peer" && figures[name].changed.length > 0));
  for (const [id, peer] of [
    ["codec-over-peer", whole],
    ["codec-over-any", any],
  ]) {
    for (const name of named(({ role }) => role === "clearway")) {
      if (peer === undefined) continue;
      const us = (each) => median(figures[each].us).toFixed(1);
      const about = { of: name, over: peer, detail: `${us(peer)} over ${us(name)} us` };
      collect.promise(id, host.name, about, ratio(figures[peer].us, figures[name].us));
    }
  }
}
