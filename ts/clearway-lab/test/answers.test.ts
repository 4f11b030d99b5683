// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the answers to the questions, from records of a run: verdicts, reasons, and which rounds a cell still needs.
import { describe, expect, test } from "vitest";
import { summary } from "../src/cli/terminal.js";
import { answerText } from "../src/report/answer-text.js";
import { reportHtml } from "../src/report/report.js";
import { verdictOf } from "../src/report/verdict.js";
import { type Answer, answersOf, isSettled } from "../src/run/answer.js";
import type { RecordedCell } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { CONTROL_PARAM, CORES_PARAM } from "../src/scenario/plan.js";
import type { Question } from "../src/scenario/question.js";
import { cell, measured, record, studentsQuestion as students } from "./record.js";

const load = { rows: 1_000_000 };
const stalls = (mechanism: string, values: number[], more: Partial<RecordedCell> = {}, params = {}) =>
  cell(
    "students",
    mechanism,
    { ...load, ...params },
    values.map((ms) => measured({ longestStall: ms })),
    more,
  );
const repeat = (values: number[]) => stalls("worker-clone", values, { control: true }, { [CONTROL_PARAM]: "A/A" });
const answered = (cells: RecordedCell[]): Answer => answersOf(record({ cells }), [students])[0] as Answer;

describe("an answer", () => {
  const clone = [500, 510, 490, 505, 500];

  test("is decided when every round is beyond the noise, and says figures, ratio, interval and rounds", () => {
    const answer = answered([
      stalls("clearway-records", [5, 5, 4.9, 5.05, 5]),
      stalls("worker-clone", clone),
      repeat(clone),
    ]);
    expect(answer.verdict).toBe("decided");
    expect(answerText(answer)).toBe(
      "A million records held Node's main thread for 5 ms as records of Clearway and for 500 ms as a structured clone: " +
        "1/100, decided (1/102 to 1/100 in 5 rounds).",
    );
  });

  test("is no difference when every round is near 1", () => {
    const answer = answered([stalls("clearway-records", clone), stalls("worker-clone", clone), repeat(clone)]);
    expect(answer.verdict).toBe("no difference");
    expect(answerText(answer)).toContain(": no difference (1 to 1 times in 5 rounds).");
  });

  test("is undecided within the noise that the reference's repeat shows", () => {
    const cells = [
      stalls(
        "clearway-records",
        clone.map((ms) => ms / 2),
      ),
      stalls("worker-clone", clone),
    ];
    expect(answered([...cells, repeat(clone)]).verdict).toBe("decided");
    const noisy = (factor: number) => repeat(clone.map((ms, round) => (round % 2 ? ms : ms * factor)));
    expect(answered([...cells, noisy(1.5)]).verdict).toBe("decided");
    expect(answered([...cells, noisy(3)]).verdict).toBe("undecided");
    expect(answerText(answered([...cells, noisy(3)]))).toContain("undecided (1/2 to 1/2 in 5 rounds; noise 3 times)");
    // Without a second cell under its own load, the noise of the same scenario on the same host counts.
    const elsewhere = { ...noisy(3), params: { rows: 5, [CONTROL_PARAM]: "A/A" } };
    const first = stalls("worker-clone", clone, {}, { rows: 5 });
    expect(answered([...cells, first, elsewhere]).verdict).toBe("undecided");
    expect(answered([...cells, first, { ...elsewhere, host: "chromium" }]).verdict).toBe("undecided");
  });

  test("without any second cell needs a factor of three", () => {
    const own = (factor: number) =>
      stalls(
        "clearway-records",
        clone.map((ms) => ms / factor),
      );
    expect(answered([own(2.9), stalls("worker-clone", clone)]).verdict).toBe("undecided");
    expect(answerText(answered([own(2.9), stalls("worker-clone", clone)]))).toContain("; noise not measured)");
    expect(answered([own(3.2), stalls("worker-clone", clone)]).verdict).toBe("decided");
  });

  test.each([
    ["it has four rounds", {}, clone.slice(1), "undecided (1/100 to"],
    ["a mechanism failed", { failure: "out of memory" }, [], "undecided (clearway-records: out of memory)"],
    ["a mechanism cannot run", { unavailable: "no addon" }, [], "undecided (clearway-records: no addon)"],
    ["nothing of it was measured", {}, [], "undecided (no round has both)"],
  ])("is undecided when %s", (_, more, values, text) => {
    const own = stalls(
      "clearway-records",
      values.map((ms) => ms / 100),
      more,
    );
    const answer = answered([own, stalls("worker-clone", values), repeat(values)]);
    expect(answer.verdict).toBe("undecided");
    expect(answerText(answer)).toContain(text);
  });

  test("is undecided when a mechanism still became faster as its warm-up ended", () => {
    const cold = cell(
      "students",
      "clearway-records",
      load,
      clone.map((ms) => measured({ longestStall: ms / 100, warmUpCut: 900 })),
    );
    const answer = answered([cold, stalls("worker-clone", clone), repeat(clone)]);
    expect(answer.verdict).toBe("undecided");
    expect(answerText(answer)).toContain(
      "undecided (clearway-records still became faster when its warm-up ended; 1/100",
    );
  });

  test("of a run beside other programs stands below a sentence that says how much they used", () => {
    const cells = [stalls("clearway-records", clone), stalls("worker-clone", clone), repeat(clone)];
    const run = (otherCores: number) =>
      record({ cells, questions: [students], machine: { ...record().machine, cores: 2, otherCores } });
    const note = "Other programs used 1.02 of 2 cores during this run. Its answers hold beside that load;";
    const busy = run(1.02);
    expect(summary(resultsOf(busy), busy).replace(/\s+/g, " ")).toContain(note);
    expect(reportHtml(resultsOf(busy), busy)).toContain(note);
    const quiet = run(0.24);
    expect(summary(resultsOf(quiet), quiet)).not.toContain("Other programs");
    expect(reportHtml(resultsOf(quiet), quiet)).not.toContain("Other programs");
  });

  test("of several comparisons names each, and is decided only when none is open", () => {
    const [compared] = students.comparisons as [Question["comparisons"][number]];
    const two: Question = {
      ...students,
      sentence: "Records of Clearway and JSON, compared with structured clone",
      comparisons: [
        { ...compared, label: "records" },
        { ...compared, label: "JSON", subject: "worker-json" },
      ],
    };
    const cells = (json: number[]) => [
      stalls(
        "clearway-records",
        clone.map((ms) => ms / 100),
      ),
      stalls("worker-clone", clone),
      repeat(clone),
      stalls("worker-json", json),
    ];
    const [same] = answersOf(record({ cells: cells(clone) }), [two]) as [Answer];
    expect(same.verdict).toBe("decided");
    expect(answerText(same)).toMatch(
      /^Records of .*clone: records: 5 ms against 500 ms, 1\/100, decided \(.*\); JSON: 500 ms against 500 ms, no difference \(.*\)\.$/,
    );
    const [open] = answersOf(record({ cells: cells(clone.map((ms, round) => (round % 2 ? ms : ms * 3))) }), [two]) as [
      Answer,
    ];
    expect(open.verdict).toBe("undecided");
  });

  test("of pinned threads rests on the cells with the same cores alone", () => {
    const [compared] = students.comparisons as [Question["comparisons"][number]];
    const on = (cores: "one" | "two") => ({ ...compared, label: `on ${cores} cores`, cores });
    const pinned: Question = { ...students, sentence: "Records", comparisons: [on("one"), on("two")] };
    const cells = (["one", "two"] as const).flatMap((cores, at) => [
      stalls(
        "clearway-records",
        clone.map((ms) => ms / (at === 0 ? 10 : 1000)),
        {},
        { [CORES_PARAM]: cores },
      ),
      stalls("worker-clone", clone, {}, { [CORES_PARAM]: cores }),
    ]);
    const [answer] = answersOf(record({ cells }), [pinned]) as [Answer];
    expect(answer.parts.map(({ decision }) => decision?.ratio)).toEqual([0.1, 0.001]);
    expect(answersOf(record({ cells: cells.slice(0, 2) }), [pinned])[0]?.verdict).toBe("undecided");
  });

  test("takes the noise from a pair on the same cores before one on other cores", () => {
    const [compared] = students.comparisons as [Question["comparisons"][number]];
    const pinned: Question = { ...students, comparisons: [{ ...compared, label: "on two cores", cores: "two" }] };
    const half = clone.map((ms) => ms / 2);
    const pair = (cores: string, factor: number) => {
      const values = clone.map((ms, round) => (round % 2 ? ms : ms * factor));
      const params = { rows: 5, [CORES_PARAM]: cores };
      return [
        stalls("worker-clone", clone, {}, params),
        stalls("worker-clone", values, { control: true }, { ...params, [CONTROL_PARAM]: "A/A" }),
      ];
    };
    const own = [
      stalls("clearway-records", half, {}, { [CORES_PARAM]: "two" }),
      stalls("worker-clone", clone, {}, { [CORES_PARAM]: "two" }),
    ];
    const verdict = (cells: RecordedCell[]) => answersOf(record({ cells }), [pinned])[0]?.verdict;
    expect(verdict([...own, ...pair("one", 3)])).toBe("undecided");
    expect(verdict([...own, ...pair("one", 3), ...pair("two", 1.2)])).toBe("decided");
    expect(verdict([...own, ...pair("one", 1.2), ...pair("two", 3)])).toBe("undecided");
  });

  test("opens the report and the summary of a run that was planned for questions", () => {
    const cells = [stalls("clearway-records", [5, 5, 5, 5, 5]), stalls("worker-clone", clone), repeat(clone)];
    const run = record({ cells, questions: [students] });
    expect(verdictOf(resultsOf(run), run)).toEqual([
      "1 question, 1 comparison: 1 decided, 0 without a difference, 0 undecided.",
      expect.stringMatching(/^A million records .* decided/),
    ]);
    const named = record({ cells });
    expect(verdictOf(resultsOf(named), named)[0]).not.toContain("decided");
  });
});

describe("stopping early", () => {
  const settled = (own: number[], other: number[]) => {
    const cells = [
      stalls("clearway-records", own),
      stalls("worker-clone", other),
      repeat(other),
      stalls("worker-json", own),
    ];
    return cells.map((each) => isSettled({ cells, hosts: {} }, [students], each));
  };

  test("ends the cells of a comparison and its repeat together, and never waits for a mechanism of the tables", () => {
    expect(settled([5, 5, 5, 5, 5], [500, 500, 500, 500, 500])).toEqual([true, true, true, true]);
    expect(settled([5, 5, 5, 5], [500, 500, 500, 500])).toEqual([false, false, false, true]);
    expect(settled([5, 900, 5, 900, 5], [500, 500, 500, 500, 500])).toEqual([false, false, false, true]);
  });

  test("does not wait for a mechanism that failed", () => {
    const cells = [
      stalls("clearway-records", [], { failure: "out of memory" }),
      stalls("worker-clone", [1, 2, 1, 2, 1]),
    ];
    expect(isSettled({ cells, hosts: {} }, [students], cells[1] as RecordedCell)).toBe(true);
  });
});
