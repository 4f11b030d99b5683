// SPDX-License-Identifier: MIT OR Apache-2.0
// Results of a run with an answer of every kind. The figures are invented.
import { ANSWERS_VERSION, type Answer, type LabResults } from "../src/engine/answer.js";
import { COMPARISONS } from "../src/engine/comparison.js";
import { record } from "./record.js";

const VERDICTS = ["faster", "slower", "no difference", "open"] as const;
const RATIOS = [0.5, 2, 1, 1.2];

function answer(own: Pick<Answer, "name" | "host" | "thing" | "peer" | "setUp"> & Partial<Answer>, at: number): Answer {
  const ratio = RATIOS[at % RATIOS.length]!;
  return {
    ...{ verdict: VERDICTS[at % VERDICTS.length]!, interval: { ratio, low: ratio * 0.97, high: ratio * 1.03 } },
    ...{ subjectNs: ratio * 1e7, peerNs: 1e7, pairs: [ratio, ratio, ratio, ratio] },
    ...{ costsNs: Array.from({ length: 4 }, (): [number, number] => [ratio * 1e7, 1e7]), ...own },
  };
}

/** Returns the results of `clearway lab`, or of `clearway bench` with two ways and two inputs. */
export function answered(kind: "lab" | "bench" = "lab"): LabResults {
  const { machine, build } = record();
  const lab = COMPARISONS.map(({ name, host, thing, peer, verb, setUp }, at) =>
    answer({ name, host, thing, peer, setUp, ...(verb && { verb }) }, at),
  );
  const ways = ["small", "large"].flatMap((input, at) => {
    const own = {
      host: "node" as const,
      thing: `pool, input ${input}`,
      peer: "direct",
      setUp: "two ways",
      way: "pool",
      input,
    };
    return [
      answer({ ...own, name: `pool/${input}` }, at),
      answer({ ...own, name: `pool/${input}/stall`, verb: "blocks" }, at),
    ];
  });
  return {
    version: ANSWERS_VERSION,
    run: {
      ...{ kind, startedAt: "2026-01-02T03:04:05.000Z", durationMs: 280_000, seed: 7, interrupted: true },
      ...{ command: `clearway ${kind}`, ...(kind === "bench" && { title: "Which way?" }) },
    },
    answers: kind === "lab" ? lab : ways,
    controls: [answer({ name: "same", host: "node", thing: "The same", peer: "itself", setUp: "twice" }, 2)],
    missing: [{ why: "install a JDK", names: ["executor-jvm-lists"] }],
    ...{ machine, build },
  };
}
