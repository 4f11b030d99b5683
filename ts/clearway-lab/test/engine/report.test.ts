// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of an answer, and the page and the text that show them.
import { describe, expect, test } from "vitest";
import { statusOf } from "../../src/cli/engine-run.js";
import { parseSeconds } from "../../src/cli/select.js";
import { ANSWERS_VERSION, type Answer, type LabResults } from "../../src/engine/answer.js";
import { COMPARISONS, CONTROLS } from "../../src/engine/comparison.js";
import { adviceOf, openingOf, withoutAdvice } from "../../src/report/answers/advice.js";
import { answersHtml } from "../../src/report/answers/page.js";
import { answersText } from "../../src/report/answers/text.js";
import { controlText, doubtsOf, sentenceOf, shownAnswers } from "../../src/report/answers/words.js";
import { record } from "../record.js";

const answer = (own: Partial<Answer> = {}): Answer => ({
  ...{ name: "call", host: "node", thing: "A call", peer: "a bare worker's", setUp: "one worker" },
  ...{ verdict: "slower", interval: { ratio: 1.2, low: 1.15, high: 1.25 } },
  ...{ subjectNs: 19_000, peerNs: 16_000, pairs: [1.19, 1.2, 1.21, 1.2], costsNs: [] },
  ...own,
});

const results = (own: Partial<LabResults> = {}): LabResults => ({
  version: ANSWERS_VERSION,
  run: {
    ...{
      kind: "lab" as const,
      startedAt: "2026-01-02T03:04:05.000Z",
      durationMs: 280_000,
      seed: 7,
      interrupted: false,
    },
    command: "clearway lab",
  },
  ...{ answers: [answer()], controls: [], missing: [], machine: record().machine, build: record().build },
  ...own,
});

describe("a sentence", () => {
  test.each<[string, Partial<Answer>, string]>([
    ["slower", {}, "A call takes 1.20 times as long as a bare worker's (1.15 to 1.25): 19 us, not 16 us."],
    [
      "faster",
      { verdict: "faster", interval: { ratio: 0.8, low: 0.75, high: 0.85 }, subjectNs: 4000, peerNs: 5000 },
      "A call is 1.25 times as fast as a bare worker's (1.18 to 1.33): 4 us, not 5 us.",
    ],
    [
      "no difference",
      { verdict: "no difference", interval: { ratio: 1, low: 0.98, high: 1.03 } },
      "A call: no difference to a bare worker's, within 10 % (0.98 to 1.03).",
    ],
    [
      "open",
      { verdict: "open", interval: { ratio: 1.1, low: 0.9, high: 1.3 }, furtherMs: 36_000 },
      "A call: between 0.90 and 1.30 times a bare worker's. About 40 s more would decide: clearway lab call --time 60",
    ],
    [
      "hopeless",
      { verdict: "open", interval: { ratio: 1.1, low: 0.4, high: 3 } },
      "A call: between 0.40 and 3.00 times a bare worker's. More time would hardly decide it.",
    ],
    [
      "a limit",
      { limit: { ratio: 1.1, verdict: "missed" } },
      "A call takes 1.20 times as long as a bare worker's (1.15 to 1.25): 19 us, not 16 us. Beyond its limit: at most 1.1 times as long.",
    ],
    [
      "a limit below 1 that is open",
      {
        ...{ verdict: "faster", interval: { ratio: 0.5, low: 0.25, high: 0.8 }, subjectNs: 5000, peerNs: 10_000 },
        limit: { ratio: 0.5, verdict: "open" },
      },
      "A call is 2.00 times as fast as a bare worker's (1.25 to 4.00): 5 us, not 10 us. Not clear whether within its limit: at least 2 times as fast.",
    ],
    ["failed", { verdict: "open", failed: "no addon." }, "A call: not measured, no addon."],
    [
      "a blocked thread",
      {
        ...{ verdict: "faster", verb: "block", thing: "A million rows", peer: "a structured clone" },
        ...{ interval: { ratio: 1 / 200, low: 1 / 250, high: 1 / 160 }, subjectNs: 5e6, peerNs: 1e9 },
      },
      "A million rows block the main thread 200 times shorter than a structured clone (160 to 250): 5 ms, not 1 s.",
    ],
  ])("of an answer that is %s", (_, own, sentence) => {
    expect(sentenceOf(answer(own))).toBe(sentence);
  });
});

test("the open answers of a scenario name one command, which has the time to decide all of them", () => {
  const open = { verdict: "open" as const, interval: undefined, furtherMs: 40_000, command: "clearway bench a.ts" };
  const answers = [answer({ ...open, name: "pool/big" }), answer({ ...open, name: "worker/big" }), answer()];
  const text = answersText(results({ run: { ...results().run, kind: "bench", durationMs: 40_000 }, answers }));
  const commands = text.flatMap((line) => line.split("About 40 s more would decide: ")[1] ?? []);
  expect(commands).toEqual(["clearway bench a.ts --time 120", "clearway bench a.ts --time 120"]);
});

test("answers for which the time was too short are one sentence with one command, from four on", () => {
  const none = (name: string) => answer({ name, verdict: "open", interval: undefined, pairs: [], furtherMs: 30_000 });
  const run = { ...results().run, durationMs: 90_000, command: "clearway lab --time 90" };
  const four = results({ run, answers: [...["a", "b", "c", "d"].map(none), answer()] });
  const sentence =
    "The time was too short for 4 questions. At most 2 min would answer them: clearway lab a b c d --time 120";
  expect(answersText(four).filter((line) => line.includes("too short"))).toEqual([`- ${sentence}`]);
  const page = answersHtml(four);
  expect(page).toContain("<code>clearway lab a b c d --time 120</code>");
  const empty = answersHtml(results({ run, answers: ["a", "b", "c", "d"].map(none) }));
  expect(empty).toContain("The time was too short to say what to do.");
  expect(empty).not.toContain("Each bar");
  expect(page).toContain("Each bar");
  const three = results({ answers: ["a", "b", "c"].map(none) });
  expect(answersText(three).filter((line) => line.includes("too short for"))).toHaveLength(3);
});

test("no suggested command has a time that the command line refuses", () => {
  const none = { verdict: "open" as const, interval: undefined, pairs: [] };
  const said = (furtherMs: number, count: number, durationMs = 60_000) => {
    const answers = Array.from({ length: count }, (_, at) => answer({ ...none, name: `q${at}`, furtherMs }));
    const warming = answer({ stillWarming: 4 });
    const text = (["lab", "bench"] as const).flatMap((kind) =>
      answersText(results({ run: { ...results().run, kind, durationMs }, answers: [...answers, warming] })),
    );
    for (const [, seconds] of text.join("\n").matchAll(/--time (\d+)/g))
      expect(parseSeconds(seconds!)).toBeGreaterThan(0);
    return text.join("\n");
  };
  expect(said(1_000_000, 1)).toContain("more would decide: clearway lab q0 --time 1500");
  expect(said(3_000_000, 1)).toContain("More time would hardly decide it.");
  expect(said(900_000, 4)).toContain("would answer them: clearway lab q0 q1 q2 q3 --time 3600");
  expect(said(901_000, 4)).toContain("The time was too short for 4 questions: q0, q1, q2, q3. An hour would not do.");
  expect(said(901_000, 4)).toContain("The time was too short for 4 answers: q0, q1, q2, q3. An hour would not do.");
  said(1000, 1, 3_600_000);
});

test("every comparison and control has a name of its own", () => {
  const names = [...COMPARISONS, ...CONTROLS].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(COMPARISONS).toHaveLength(21);
});

test("advice follows decided answers alone, in at most six lines", () => {
  const all = COMPARISONS.map(({ name }) => answer({ name, verdict: "faster" }));
  expect(adviceOf(all).length).toBeLessThanOrEqual(6);
  expect(adviceOf(all)[0]).toContain("return a table");
  expect(adviceOf(all.map((each) => ({ ...each, verdict: "open" as const })))).toEqual([]);
});

test("the advice about a page is whole without that about Node", () => {
  const rows = answer({ name: "records-chromium", verb: "block", verdict: "faster", subjectNs: 2.74e6, peerNs: 430e6 });
  expect(adviceOf([rows])).toEqual([
    "In a page, a million rows in a table of clearway/records block Chromium's main thread for 2.74 ms instead of 430 ms.",
  ]);
});

test.each<[string, Partial<Answer>, boolean, string]>([
  ["is decided and has no consequence", {}, false, "Nothing that was measured asks for a change."],
  ["is open", { verdict: "open" }, false, "The time was too short to say what to do."],
  ["was interrupted", { verdict: "open" }, true, "The run was interrupted before it could say what to do."],
  ["has failed", { verdict: "open", failed: "it broke" }, false, "Nothing could be measured."],
])(
  "the page and the text say why they advise nothing, if all that was measured %s",
  (_, own, interrupted, sentence) => {
    const run = results({ run: { ...results().run, interrupted }, answers: [answer(own)] });
    expect(answersText(run).slice(1, 3)).toEqual(["What to do on this machine", sentence]);
    expect(answersHtml(run)).toContain(`<p>${sentence}</p>`);
  },
);

describe("the opening of a scenario's report", () => {
  const call = (own: Partial<Answer>): Answer =>
    answer({ thing: "pool, input big", way: "pool", input: "big", peer: "direct", ...own });
  const opening = (answers: Answer[]) =>
    openingOf(results({ run: { ...results().run, kind: "bench", title: "Which?" }, answers }));

  test("has the user's title, and names the way that frees the main thread", () => {
    const stall = call({
      ...{ name: "pool/big/stall", verb: "blocks", verdict: "faster", subjectNs: 1e6, peerNs: 4e7 },
      interval: { ratio: 0.025, low: 0.02, high: 0.03 },
    });
    expect(opening([call({ name: "pool/big" }), stall])).toEqual({
      title: "Which?",
      lines: ["Input big: use pool. It blocks the main thread for 1 ms, not 40 ms, and takes 1.20 times as long."],
    });
  });

  test("names the faster way where no call costs a frame", () => {
    const faster = {
      verdict: "faster" as const,
      interval: { ratio: 0.5, low: 0.4, high: 0.6 },
      subjectNs: 4e3,
      peerNs: 8e3,
    };
    expect(opening([call(faster)]).lines).toEqual([
      "Input big: use pool. It is 2.00 times as fast as direct: 4 us instead of 8 us.",
    ]);
  });

  test("advises a way that is faster but blocks for more than half as long where no way frees the thread", () => {
    const faster = { verdict: "faster" as const, interval: { ratio: 0.6, low: 0.59, high: 0.61 } };
    const both = { subjectNs: 36e6, peerNs: 60e6 };
    const open = call({
      way: "rough",
      name: "rough/big",
      verdict: "open",
      interval: { ratio: 0.5, low: 0.2, high: 1.2 },
    });
    const blocks = call({ ...faster, ...both, name: "pool/big/stall", verb: "blocks" });
    expect(opening([open, call({ ...faster, ...both, name: "pool/big" }), blocks]).lines).toEqual([
      "Input big: use pool. It is 1.67 times as fast as direct: 36 ms instead of 60 ms.",
    ]);
  });

  test("keeps the reference where nothing is gained", () => {
    expect(opening([call({})]).lines).toEqual([
      "Input big: use direct: it costs no frame, and no other way is measurably faster.",
    ]);
  });

  test("says that a lone way is compared with nothing", () => {
    const control = answer({ way: "only", peer: "itself", subjectNs: 2e3 });
    const alone = openingOf(results({ run: { ...results().run, kind: "bench" }, answers: [], controls: [control] }));
    expect(alone.lines).toEqual(["only takes 2 us. It is the only way that was measured, so nothing is compared."]);
  });
});

test("stalls that the meter does not notice are not shown", () => {
  const stall = answer({ verb: "blocks", subjectNs: 1e6, peerNs: 1e6 });
  expect(shownAnswers(results({ answers: [stall, answer()] }))).toEqual([answer()]);
});

test("stalls that are not shown are neither counted nor doubted", () => {
  const hidden = answer({
    name: "call/stall",
    verb: "blocks",
    subjectNs: 1e6,
    peerNs: 1e6,
    otherShare: 0.5,
    stillWarming: 4,
  });
  const run = results({ run: { ...results().run, kind: "compare" }, answers: [hidden, answer({ otherShare: 0.1 })] });
  expect(openingOf(run).lines).toEqual(["1 slower, 0 faster, 0 without a difference, 0 open."]);
  expect(doubtsOf(run)).toEqual([]);
});

test("there are at most three doubts about what was measured, then all that is missing, each with a next step", () => {
  const doubts = doubtsOf(
    results({
      run: { ...results().run, interrupted: true },
      answers: [answer({ otherShare: 0.6, stillWarming: 4 }), answer({ failed: "it broke" })],
      controls: [answer({ verdict: "faster" })],
      missing: ["a", "b", "c", "d", "e"].map((name) => ({ why: `install ${name}`, names: [name] })),
    }),
  );
  expect(doubts).toHaveLength(3 + 5);
  expect(doubts.slice(3).map(({ next }) => next)).toEqual(["a", "b", "c", "d", "e"].map((name) => `install ${name}`));
  expect(doubts.every(({ text, next }) => text !== "" && next !== "")).toBe(true);
});

test("a control that failed is a doubt, by the name of its way, and the status of the run", () => {
  const control = answer({
    name: "same",
    way: "only",
    peer: "itself",
    verdict: "open",
    failed: "a call threw Error: no",
  });
  const run = results({ run: { ...results().run, kind: "bench" }, answers: [], controls: [control] });
  expect(statusOf(run)).toBe(1);
  expect(doubtsOf(run)).toEqual([
    { text: "Failed: only (a call threw Error: no).", next: "correct it, and run again" },
  ]);
  expect(withoutAdvice(run)).toBe("Nothing could be measured.");
});

test("a quiet and complete run has no doubt", () => {
  expect(doubtsOf(results({ answers: [answer({ otherShare: 0.1, stillWarming: 1 })] }))).toEqual([]);
});

test("what is missing is a doubt with the remedy as its next step", () => {
  const missing = [{ why: "install a JDK", names: ["executor-jvm-lists", "executor-jvm-storage"] }];
  expect(doubtsOf(results({ missing }))).toEqual([
    { text: "Not measured: executor-jvm-lists, executor-jvm-storage.", next: "install a JDK" },
  ]);
});

test("the control is one sentence with a ratio for each host", () => {
  const control = answer({ name: "same-node", interval: { ratio: 1, low: 0.99, high: 1.02 } });
  expect(controlText(results({ controls: [control] }))).toBe(
    "The same mechanism twice, which should give 1: Node 1.00 (0.99 to 1.02).",
  );
});

test("the text has the groups in the order faster, slower, no difference, open", () => {
  const text = answersText(
    results({
      answers: [
        answer({ verdict: "open" }),
        answer({ verdict: "no difference" }),
        answer(),
        answer({ verdict: "faster" }),
      ],
    }),
  );
  const titles = ["Faster", "Slower", "No difference", "Open"];
  expect(text.filter((line) => titles.includes(line))).toEqual(titles);
});

test("the page draws no picture of an open answer", () => {
  const open = answer({ name: "records-node", verb: "block", verdict: "open", interval: undefined, subjectNs: 5e6 });
  expect(answersHtml(results({ answers: [open] }))).not.toContain("to scale");
});

test("advice compares two times in one unit", () => {
  const lists = answer({ name: "executor-node-lists", subjectNs: 1.27e6, peerNs: 769e3 });
  expect(adviceOf([lists])[0]).toContain("takes 1.27 ms instead of 0.77 ms");
});

test("the page draws the stalls of a million rows to scale: as a table, in pieces, and in one message", () => {
  const rows = answer({ name: "records-node", verb: "block", verdict: "faster", subjectNs: 5e6, peerNs: 1e9 });
  const sliced = { ...rows, name: "slices-node", subjectNs: 25e6 };
  const widths = (...answers: Answer[]) =>
    [...answersHtml(results({ answers })).matchAll(/<i style="width:([\d.]+%)/g)].map(([, width]) => width);
  expect(widths(rows)).toEqual(["100.00%", "0.50%"]);
  expect(widths(rows, sliced)).toEqual(["100.00%", "2.50%", "0.50%"]);
  expect(widths(rows, { ...sliced, verdict: "open" })).toEqual(["100.00%", "0.50%"]);
});

test("the page has every answer, escapes what a machine says, and has no script", () => {
  const page = answersHtml(results({ answers: [answer({ failed: "<script>no</script>" })] }));
  expect(page).toContain("&lt;script&gt;no");
  expect(page).not.toContain("<script");
});
