// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures automatic placement with batches of 100 calls of four kinds of work. Compares it with the better of "always inline" and
// "always a worker" on the same pool.
import { bestOf, median, quantile, ratio, spread } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";

const budgetMs = 1;
const calls = 100;
const kindText: Record<string, string> = {
  arithmetic: "arithmetic",
  lists: "lists of 1000",
  oneMs: "1 ms",
  tenMs: "10 ms",
};

type Placement = "auto" | "inline" | "worker";

/** The result of the probe `placement`, by kind of work. */
interface PlacementFigures {
  figures: Record<string, Record<Placement, { ms: number[]; heldMs: number[] }>>;
}

export async function placement({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  const { figures } = await host.probe<PlacementFigures>("placement", { rounds: amounts["rounds"], calls, seed });
  for (const [kind, { auto, inline, worker }] of Object.entries(figures)) {
    const work = kindText[kind] ?? kind;
    for (const [name, { ms, heldMs }] of Object.entries({ auto, inline, worker })) {
      collector.addMeasurement(
        "placement",
        host.name,
        { name: `clearway ${name}`, role: "clearway" },
        { work, calls },
        {
          time: { unit: "ms", samples: ms },
          held: { unit: "ms", samples: heldMs },
        },
      );
    }
    const better = bestOf({ inline: inline.ms, worker: worker.ms }, "low") as "inline" | "worker";
    const figure = (series: number[]) => `${median(series).toFixed(3)}`;
    const labels = { mechanism: "placement auto", over: better, state: work };
    collector.addPromise(
      "auto-time",
      host.name,
      { ...labels, detail: `${figure(auto.ms)} ms; inline ${figure(inline.ms)}, worker ${figure(worker.ms)}` },
      ratio(auto.ms, { inline, worker }[better].ms),
    );
    const stalls = auto.heldMs.map((ms) => ms / budgetMs);
    const detail = `the longest of a round; of all ${quantile(auto.heldMs, 1).toFixed(2)} ms`;
    collector.addPromise("auto-stall", host.name, { mechanism: "placement auto", state: work, detail }, spread(stalls));
  }
}
