// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { pageWith, partsOf } from "../../scripts/figures/experiments.mjs";
import { fill } from "../../scripts/figures/fill.mjs";
import { picture } from "../../scripts/figures/picture.mjs";
import { browsers, summary, tables } from "../../scripts/figures/tables.mjs";

const file = new URL("../../lab/records/limits/results.json", import.meta.url);
const kept = JSON.parse(readFileSync(file, "utf8"));
const marked = (name: string, inside = "") =>
  `before\n<!-- figures: ${name} -->\n${inside}<!-- end of figures -->\nafter`;

/** Returns the kept run with other fields in one answer. */
const changed = (name: string, fields: object) => ({
  ...kept,
  answers: kept.answers.map((answer: { name: string }) => (answer.name === name ? { ...answer, ...fields } : answer)),
});
const quiet = { ...kept, answers: kept.answers.map((answer: object) => ({ ...answer, otherShare: 0.1 })) };

/** Returns the row of the table `pools` for the start of a pool in Node. */
const startRow = (fields: object) =>
  fill(marked("pools"), changed("pool-start", { otherShare: 0, ...fields }))
    .page.split("\n")
    .find((line) => line.includes("start of a pool"));

test("the README's picture draws the stalls of the kept run to scale", () => {
  const run = {
    answers: [
      { name: "records-node", subjectNs: 5e6, peerNs: 500e6 },
      { name: "slices-node", subjectNs: 25e6, peerNs: 480e6 },
    ],
    missing: [],
  };
  const bars = [...picture(run).matchAll(/bold">(.*?)<.*\n<rect x="16" y="\d+" width="([\d.]+)"/g)];
  expect(bars.map(([, time, width]) => [time, width])).toEqual([
    ["500 ms", "950.0"],
    ["25 ms", "47.5"],
    ["5 ms", "9.5"],
  ]);
});

describe("the figures of a page", () => {
  test("are written between their marks, and everything else stays", () => {
    const { page, problems, count } = fill(marked("records", "an old table\n"), kept);
    expect(problems).toEqual([]);
    expect(count).toBe(1);
    expect(page).toMatch(/^before\n<!-- figures: records -->\n\n\| question \|/);
    expect(page).toMatch(/\n\n<!-- end of figures -->\nafter$/);
    expect(page).not.toContain("an old table");
  });

  test("are the same when they are written again", () => {
    const once = fill(marked("summary"), kept).page;
    expect(fill(once, kept).page).toBe(once);
  });

  test("are those of every question of the kept run, each in one table, and still questions of the lab", async () => {
    // By address, because the lab's sources have type settings of their own.
    const engine = (name: string) =>
      import(new URL(`../../ts/clearway-lab/src/engine/${name}.ts`, import.meta.url).href);
    const [{ COMPARISONS }, { FURTHER }] = await Promise.all([engine("comparison"), engine("limits")]);
    const questions: string[] = [...COMPARISONS, ...FURTHER].map(({ name }) => name);
    const shown = Object.values(tables).flat();
    expect(shown.toSorted()).toEqual(kept.answers.map(({ name }: { name: string }) => name).sort());
    expect(questions).toEqual(expect.arrayContaining(shown));
    expect(shown).toEqual(expect.arrayContaining(summary.flatMap(({ node, chromium }) => [node, chromium])));
  });

  test("about the three browsers have a column for each", () => {
    const inOthers = ["firefox", "webkit"].flatMap((host) =>
      kept.answers.map((answer: { name: string }) => ({ ...answer, name: answer.name.replace("chromium", host) })),
    );
    const { page, problems } = fill(marked("browsers"), { ...kept, answers: [...kept.answers, ...inOthers] });
    expect(problems).toEqual([]);
    expect(page).toContain("|  | Chromium | Firefox | WebKitGTK |");
    expect(page.split("\n").filter((line) => line.split("**").length === 7)).toHaveLength(browsers.length);
  });

  test.each(["machine", "summary", ...Object.keys(tables)])("for the table %s are all in the kept run", (name) => {
    expect(fill(marked(name), kept).problems).toEqual([]);
  });

  test("show both times, the ratio with its interval, and a missed limit", () => {
    const slower = {
      ...{
        verdict: "slower",
        interval: { ratio: 1.25, low: 1.21, high: 1.29 },
        subjectNs: 35_400_000,
        peerNs: 28_300_000,
      },
      limit: { ratio: 1.2, verdict: "missed" },
    };
    expect(startRow(slower)).toMatch(
      /\| 35\.4 ms \| a bare worker's: 28\.3 ms \| \*\*1\.25 times as long\*\* \(1\.21 to 1\.29\) \| at most 1\.2 times as long: \*\*missed\*\* \|$/,
    );
  });

  test("say what was faster, equal, not decided, not reached and not measured", () => {
    const interval = { ratio: 0.5, low: 0.4, high: 0.625 };
    expect(startRow({ verdict: "faster", interval })).toContain("| 2 times as fast (1.6 to 2.5) |");
    expect(startRow({ verdict: "faster", interval, verb: "block" })).toContain("| 2 times shorter (1.6 to 2.5) |");
    expect(startRow({ verdict: "no difference", interval })).toContain("| no difference (0.4 to 0.625) |");
    expect(startRow({ verdict: "open", interval })).toContain("| open: 0.4 to 0.625 times as long |");
    expect(startRow({ verdict: "open", interval: undefined })).toContain(
      "|  | a bare worker's | open: the time ended |",
    );
    expect(startRow({ failed: "no core", interval })).toContain("| not measured: no core |");
  });

  test("say in which row and how often the machine was busy, and nothing of it after a quiet run", () => {
    expect(startRow({ otherShare: 0.4 })).toContain(", machine busy |");
    const during = (name: string) => ({
      ...quiet,
      answers: quiet.answers.map((answer: { name: string }) =>
        answer.name === name ? { ...answer, otherShare: 0.834 } : answer,
      ),
    });
    const said = (count: number) =>
      `**The machine was busy**: other programs used up to 83 % of the cores during 1 of ${count} answers.`;
    expect(fill(marked("machine"), during("call-piscina")).page).toContain(said(quiet.answers.length));
    expect(fill(marked("summary"), during("call-piscina")).page).toContain(said(summary.length * 2));
    // The summary says nothing of an answer that it does not show.
    expect(fill(marked("summary"), during("remote-two")).page).not.toContain("busy");
    for (const name of ["machine", "summary"]) expect(fill(marked(name), quiet).page).not.toContain("busy");
  });

  test("are left unchanged under an unknown table name, which is reported", () => {
    const text = marked("callz", "kept\n");
    expect(fill(text, kept)).toMatchObject({
      page: text,
      problems: [
        "line 2: no table is called callz; there are: machine, summary, calls, records, pools, streams, channels, native, remote",
      ],
    });
  });

  test("are refused with the line of a missing end mark", () => {
    expect(fill("<!-- figures: calls -->\ntext", kept).problems).toEqual([
      'line 1: "<!-- end of figures -->" is missing',
    ]);
  });

  test("are refused with the question that the run has not answered, and why", () => {
    const missing = [{ why: "no Chromium", names: ["pool-start"] }];
    expect(fill(marked("pools"), { ...kept, answers: [], missing }).problems).toEqual([
      "line 2: the run has no answer for pool-start: no Chromium",
    ]);
  });

  test("are refused from results of another version", () => {
    expect(fill(marked("pools"), { ...kept, version: 1 }).problems).toEqual([
      "line 2: results.json must have version 2: version=1",
    ]);
  });
});

describe("a page of the experiments", () => {
  test("gets its generated part between its marks, and keeps the rest", () => {
    const page = "# Title\n<!-- a -->\nold\n<!-- /a -->\nrest\n";
    expect(pageWith("new", page, "a")).toBe("# Title\n<!-- a -->\nnew\n<!-- /a -->\nrest\n");
  });

  test("is refused without its marks", () => {
    expect(() => pageWith("part", "# A page", "a")).toThrow("the page has no part between <!-- a --> and <!-- /a -->");
  });

  test("has one experiment, and the first page lists all", () => {
    const markdown = "A run.\n\n## 1. Rows\n\n**Why?**\n\n### A table\n\n## 2. Fills\n\n**How?**\n\ntext";
    expect(partsOf(markdown)).toEqual([
      [
        "docs/experiments.md",
        "experiments",
        "A run.\n\n- [1. Rows](experiments/1-students.md): Why?\n- [2. Fills](experiments/2-memset.md): How?",
      ],
      ["docs/experiments/1-students.md", "experiment", "**Why?**\n\n## A table"],
      ["docs/experiments/2-memset.md", "experiment", "**How?**\n\ntext"],
    ]);
  });
});
