// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the lines' findings as cells of results.json. Family "bench" has the measurements by mechanism. Family "promise" has the
// table: a ratio or a figure, its target, and whether it is met.
import { asked, verdict } from "../asked.mjs";
import { distribution, round } from "../statistics.mjs";

export function collector() {
  const cells = [];
  const noiseFloor = [];
  const cell = (scenario, host, mechanism, role, params, rest) =>
    cells.push({ family: "bench", scenario, host, mechanism, role, params, ...rest });

  return {
    cells,
    noiseFloor,

    /** Adds a subject's figures. `metrics` maps a name to `{ unit, samples }` (all of them) or `{ unit, value }`. */
    measured(scenario, host, { name, role, settings }, params, metrics) {
      const given = Object.entries(metrics).map(([metric, { unit, samples, value }]) => [
        metric,
        samples === undefined ? { unit, value: round(value) } : distribution(samples, unit),
      ]);
      const all = settings ? { ...params, settings } : params;
      cell(scenario, host, name, role, all, { status: "ok", metrics: Object.fromEntries(given) });
    },

    /** Adds a subject that cannot run here, or that failed. */
    absent(scenario, host, { name, role }, params, why, status = "unavailable") {
      cell(scenario, host, name, role, params, { status, why, metrics: {} });
    },

    /**
     * Adds a line of the table: the figure with its middle half. `of`, `over` and `state` say what was compared, and where the threads ran.
     * @param {{ of: string, over?: string, state?: string, detail?: string }} about
     */
    promise(id, host, about, { median, p25, p75, rounds }) {
      const { of, over, state, detail } = about;
      const { what, sense, value, unit } = asked[id];
      cells.push({
        family: "promise",
        scenario: id,
        host,
        mechanism: of,
        role: "clearway",
        params: dropEmpty({
          what,
          over,
          state,
          detail,
          sense,
          asked: value,
          rounds,
          verdict: verdict(asked[id], median),
        }),
        status: "ok",
        metrics: {
          figure: { unit, value: round(median) },
          p25: { unit, value: round(p25) },
          p75: { unit, value: round(p75) },
        },
      });
    },

    /**
     * Adds a line of the table that could not be measured.
     * @param {{ of: string, over?: string, state?: string, detail?: string }} about
     */
    unmeasured(id, host, about, why, status = "unavailable") {
      const { of, over, state, detail } = about;
      const { what, sense, value } = asked[id];
      const params = dropEmpty({ what, over, state, detail, sense, asked: value });
      cells.push({
        family: "promise",
        scenario: id,
        host,
        mechanism: of,
        role: "clearway",
        params,
        status,
        why,
        metrics: {},
      });
    },
  };
}

function dropEmpty(params) {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
