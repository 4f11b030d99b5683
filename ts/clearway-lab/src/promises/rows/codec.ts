// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the codecs with one mixed message of 2 KB, encoded and decoded. The other libraries' codecs use no shared records.
import { bestOf, median, ratio } from "../../statistics/rounds.js";
import type { Given, Subject } from "../collect.js";
import type { RowContext } from "../run.js";
import { codecs } from "../subject/codecs.mjs";

/** The result of the probe `codec` for one codec. */
interface Coded {
  us: number[];
  bytes?: number;
  /** The keys whose values come back changed. */
  changed: string[];
}

export async function codec({ host, collect, settings, seed }: RowContext): Promise<void> {
  const figures = await host.probe<Record<string, Coded>>("codec", { rounds: settings["rounds"], seed });
  const of = (name: string) => figures[name] as Coded;
  for (const { name, role, settings: how } of codecs as readonly Required<Subject>[]) {
    const { us, bytes, changed } = of(name);
    const told = changed.length > 0 ? `${how}; comes back as something else: ${changed.join(", ")}` : how;
    const metrics: Record<string, Given> = {
      latency: { unit: "us", samples: us },
      ...(bytes === undefined ? {} : { message: { unit: "bytes", value: bytes } }),
    };
    collect.measured("codec", host.name, { name, role, settings: told }, { value: "mixed 2 KB" }, metrics);
  }
  const named = (wanted: (codec: Subject) => boolean) =>
    (codecs as readonly Subject[]).filter(wanted).map(({ name }) => name);
  const best = (names: readonly string[]) =>
    bestOf(Object.fromEntries(names.map((name) => [name, of(name).us])), "low");
  const whole = best(named(({ name, role }) => role === "peer" && of(name).changed.length === 0));
  // Some peers return bytes instead of numbers, which is less work. They are compared separately, for users who accept bytes.
  const any = best(named(({ name, role }) => role === "peer" && of(name).changed.length > 0));
  for (const [id, peer] of [
    ["codec-over-peer", whole],
    ["codec-over-any", any],
  ] as const) {
    for (const name of named(({ role }) => role === "clearway")) {
      if (peer === undefined) continue;
      const us = (each: string) => median(of(each).us).toFixed(1);
      const about = { of: name, over: peer, detail: `${us(peer)} over ${us(name)} us` };
      collect.promise(id, host.name, about, ratio(of(peer).us, of(name).us));
    }
  }
}
