// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the codecs with one mixed message of 2 KB, encoded and decoded. The other libraries' codecs use no shared records.
import { bestOf, median, ratio } from "../../statistics/rounds.js";
import type { MeasuredMechanism, MetricInput } from "../collector.js";
import { codecs } from "../mechanism/codecs.mjs";
import type { MeasurementContext } from "../run.js";

/** The result of the probe `codec` for one codec. */
interface CodecFigures {
  us: number[];
  bytes?: number;
  /** The keys whose values come back changed. */
  changed: string[];
}

export async function codec({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  const figures = await host.probe<Record<string, CodecFigures>>("codec", { rounds: amounts["rounds"], seed });
  const figuresOf = (name: string) => figures[name] as CodecFigures;
  for (const { name, role, settings } of codecs as readonly Required<MeasuredMechanism>[]) {
    const { us, bytes, changed } = figuresOf(name);
    const settingsText =
      changed.length > 0 ? `${settings}; comes back as something else: ${changed.join(", ")}` : settings;
    const metrics: Record<string, MetricInput> = {
      latency: { unit: "us", samples: us },
      ...(bytes === undefined ? {} : { message: { unit: "bytes", value: bytes } }),
    };
    collector.addMeasurement(
      "codec",
      host.name,
      { name, role, settings: settingsText },
      { value: "mixed 2 KB" },
      metrics,
    );
  }
  const namesWhere = (matches: (codec: MeasuredMechanism) => boolean) =>
    (codecs as readonly MeasuredMechanism[]).filter(matches).map(({ name }) => name);
  const best = (names: readonly string[]) =>
    bestOf(Object.fromEntries(names.map((name) => [name, figuresOf(name).us])), "low");
  const unchangedPeer = best(namesWhere(({ name, role }) => role === "peer" && figuresOf(name).changed.length === 0));
  // Some peers return bytes instead of numbers, which is less work. They are compared separately, for users who accept bytes.
  const changingPeer = best(namesWhere(({ name, role }) => role === "peer" && figuresOf(name).changed.length > 0));
  for (const [id, peer] of [
    ["codec-over-peer", unchangedPeer],
    ["codec-over-any", changingPeer],
  ] as const) {
    for (const name of namesWhere(({ role }) => role === "clearway")) {
      if (peer === undefined) continue;
      const us = (each: string) => median(figuresOf(each).us).toFixed(1);
      const labels = { mechanism: name, over: peer, detail: `${us(peer)} over ${us(name)} us` };
      collector.addPromise(id, host.name, labels, ratio(figuresOf(peer).us, figuresOf(name).us));
    }
  }
}
