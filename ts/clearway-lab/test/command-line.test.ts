// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line as a user meets it: names that are nearly right, JSON, colours, widths, and hostile text.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { visible } from "../../../scripts/terminal-text.mjs";
import { nearest } from "../src/bench/nearest-name.js";
import { examinationText } from "../src/cli/hosts-command.js";
import { columnsOf, fitted } from "../src/cli/print.js";
import { terminalText, wantsColours } from "../src/report/colours.js";
import { answered } from "./answered.js";
import { BuiltCli, TESTED } from "./built-cli.js";
import { record } from "./record.js";

let cli: BuiltCli;
beforeAll(() => {
  cli = new BuiltCli();
});
afterAll(() => cli.remove());

const run = (...args: string[]) => cli.run(args, TESTED);

describe("another device", () => {
  test.each([
    [["ratio", "--network", "203.0.113.9"], /^error: 203\.0\.113\.9 is not an address of this machine on a network\./],
    [["jank", "page.html", "--device", "NaN"], /a device's ratio must be a number over 0, at most 1000: ratio=NaN/],
  ])("is refused with what is wrong: %j", async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("a name that is nearly right", () => {
  test.each([
    [["hots"], /unknown command 'hots'\n\(Did you mean hosts\?\)/],
    [["lab", "--hots", "node"], /unknown option '--hots'\n\(Did you mean --host\?\)/],
    [
      ["lab", "--host", "chrome"],
      /Hosts: node, chromium, firefox, webkit, jvm, flutter, swift\. Did you mean "chromium"\?/,
    ],
    [["lab", "--profile", "quik"], /Allowed choices are published/],
    [["export", "jetpak", "out"], /Allowed choices are markdown, jetpack/],
  ])("is refused with the nearest one: %j", async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test("gets no suggestion that has nothing to do with it", () => {
    expect(nearest("xyz", ["node", "chromium", "jvm"])).toBeUndefined();
    expect(nearest("node", [])).toBeUndefined();
    expect(nearest("", ["node"])).toBeUndefined();
    expect(nearest("a".repeat(100_000), ["node"])).toBeUndefined();
    expect(nearest("CHROMIUM", ["node", "chromium"])).toBe("chromium");
  });
});

describe("--json", () => {
  test("prints the hosts", async () => {
    const { code, stdout } = await run("hosts", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).hosts[0]).toMatchObject({
      host: "node",
      runtime: "Fake 1",
      clockStepUs: 1,
      mechanisms: 4,
    });
  });
});

describe("clearway hosts", () => {
  const hosts = async (env: Record<string, string>) => {
    const { code, stdout } = await cli.run(["hosts", "--json"], env);
    const found = JSON.parse(stdout) as { ok: boolean; hosts: { host: string; state: string; problem?: string }[] };
    return {
      code,
      ok: found.ok,
      states: Object.fromEntries(found.hosts.map(({ host, state }) => [host, state])),
      found,
    };
  };

  const noBrowsers = { chromium: "missing", firefox: "missing", webkit: "missing" };

  test("exits with status 0 when only optional hosts are missing, and says what installs them", async () => {
    const missing = {
      CLEARWAY_CHROMIUM: cli.path("no browser"),
      CLEARWAY_FIREFOX: cli.path("no browser"),
      CLEARWAY_WEBKIT: cli.path("no browser"),
      CLEARWAY_LAB_JVM: cli.path("no jvm.json"),
      CLEARWAY_FLUTTER: cli.path("no app"),
      CLEARWAY_LAB_SWIFT: cli.path("no swift.json"),
    };
    const { code, ok, states, found } = await hosts(missing);
    expect({ code, ok, states }).toEqual({
      code: 0,
      ok: true,
      states: { node: "ok", ...noBrowsers, jvm: "missing", flutter: "missing", swift: "missing" },
    });
    expect(found.hosts[1]?.problem).toBe(
      `CLEARWAY_CHROMIUM names a file that does not exist: ${missing.CLEARWAY_CHROMIUM}. Set it to the path of a Chromium, or unset it`,
    );
    expect(found.hosts[2]?.problem).toMatch("CLEARWAY_FIREFOX names a file that does not exist");
    expect(found.hosts[3]?.problem).toMatch("CLEARWAY_WEBKIT names a file that does not exist");
    expect(found.hosts[4]?.problem).toMatch("openjdk-17-jdk-headless maven");
    expect(found.hosts[5]?.problem).toMatch(/Flutter's engine|CLEARWAY_FLUTTER names a folder without lib/);
    expect(found.hosts[6]?.problem).toMatch(/scripts\/setup\.sh swift adds Swift 6/);
  });

  test("exits with status 1 when something installed does not work", async () => {
    const broken = cli.path("broken.json");
    const home = cli.path("a jdk");
    mkdirSync(`${home}/bin`, { recursive: true });
    writeFileSync(`${home}/bin/java`, "#!/bin/sh\necho 'Error: could not find libjvm.so' >&2\nexit 6\n");
    chmodSync(`${home}/bin/java`, 0o755);
    writeFileSync(broken, JSON.stringify({ classpath: [], jdks: { 25: home } }));
    const { code, states, found } = await hosts({
      CLEARWAY_CHROMIUM: cli.path("no"),
      CLEARWAY_FIREFOX: cli.path("no"),
      CLEARWAY_WEBKIT: cli.path("no"),
      CLEARWAY_LAB_JVM: broken,
      CLEARWAY_FLUTTER: cli.path("no"),
      CLEARWAY_LAB_SWIFT: cli.path("no"),
    });
    expect({ code, states }).toEqual({
      code: 1,
      states: { node: "ok", ...noBrowsers, jvm: "broken", flutter: "missing", swift: "missing" },
    });
    expect(found.hosts[4]?.problem).toMatch(/did not start: .*code=6.*could not find libjvm\.so/);
  });
});

describe("a run of a host that is missing", () => {
  test.each([
    ["chromium", /nothing can be measured on chromium: CLEARWAY_CHROMIUM names a file/],
    ["firefox", /nothing can be measured on firefox: CLEARWAY_FIREFOX names a file/],
    ["jvm", /nothing can be measured on jvm: the JVM's runner is not built/],
    ["swift", /nothing can be measured on swift: the runner for Swift is not built: .*scripts\/setup\.sh swift/],
  ])("is refused, says why, and writes nothing: %s", async (host, message) => {
    const none = cli.path("none.json");
    const browsers = { CLEARWAY_CHROMIUM: cli.path("none"), CLEARWAY_FIREFOX: cli.path("none") };
    const env = { ...browsers, CLEARWAY_LAB_JVM: none, CLEARWAY_LAB_SWIFT: none };
    const args = ["lab", "--profile", "published", "--host", host, "--out", `no ${host}`];
    const { code, stderr } = await cli.run(args, env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).toMatch("To go on: clearway hosts");
    expect(() => execFileSync("ls", [cli.path(`no ${host}`)], { stdio: "ignore" })).toThrow();
  });
});

describe("colours", () => {
  test.each([
    ["on in a terminal", true, {}],
    ["off in a terminal with NO_COLOR, whatever FORCE_COLOR says", false, { NO_COLOR: "1", FORCE_COLOR: "1" }],
    ["off in a terminal with FORCE_COLOR=0", false, { FORCE_COLOR: "0" }],
    ["off in a dumb terminal", false, { TERM: "dumb" }],
  ])("are %s", (_, expected, env) => {
    expect(wantsColours({ isTTY: true }, env)).toBe(expected);
  });
});

describe("a narrow terminal", () => {
  const widest = (text: string) => Math.max(...text.split("\n").map((line) => stripVTControlCharacters(line).length));

  test("has the width of the terminal or of COLUMNS, from 40 to 100; a pipe has none", () => {
    expect(columnsOf({ columns: 60 }, { COLUMNS: "80" })).toBe(60);
    expect(columnsOf({}, { COLUMNS: "80" })).toBe(80);
    expect(columnsOf({}, { COLUMNS: "300" })).toBe(100);
    expect(columnsOf({}, { COLUMNS: "5" })).toBe(40);
    expect(columnsOf({}, {})).toBeUndefined();
    expect(columnsOf({}, { COLUMNS: "wide" })).toBeUndefined();
  });

  test.each([50, 80, 100])("fits the list of hosts in %d columns", (width) => {
    const { machine, build } = record();
    const noise = { lateMs: 1, seconds: 2, stealPercent: null };
    const text = examinationText(
      {
        version: 1,
        ok: true,
        machine,
        build,
        chromium: "/a/path/without/a/space/that/is/longer/than/a/narrow/terminal/chromium",
        noise,
        hosts: [{ host: "jvm", state: "missing", problem: "the JVM's runner is not built: it needs a JDK" }],
      },
      width,
    );
    expect(widest(text)).toBeLessThanOrEqual(width);
  });

  test("gets its help within its width", async () => {
    for (const args of [["--help"], ["lab", "--help"]]) {
      const { stdout } = await cli.run(args, { COLUMNS: "50" });
      // The last lines of the lab's help are commands to copy.
      expect(widest(stdout.split("\nclearway lab list")[0] ?? "")).toBeLessThanOrEqual(50);
      expect(widest(stdout)).toBeLessThanOrEqual(80);
    }
  });

  test.each([40, 80])(
    "gets the lists of questions and of scenarios within %d columns, with every name",
    async (width) => {
      for (const options of [["--limits"], ["--profile", "published"]]) {
        const list = async (env: Record<string, string>) => (await cli.run(["lab", "list", ...options], env)).stdout;
        const [whole, narrow] = [await list({ COLUMNS: "" }), await list({ COLUMNS: `${width}` })];
        expect(widest(narrow)).toBeLessThanOrEqual(width);
        const names = (text: string) => text.split("\n").flatMap((line) => /^\S+/.exec(line)?.[0] ?? []);
        expect(names(narrow)).toEqual(names(whole));
      }
    },
  );

  test("loses no character of a text", () => {
    const text = "  a sentence with averyverylongwordthatfitsnowhere and more";
    for (const width of [40, 12, 7]) {
      const lines = fitted(text, width, 4);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(lines.join("").replace(/ /g, "")).toBe(text.replace(/ /g, ""));
    }
  });
});

describe("a reader that closes the pipe", () => {
  test("ends the command without a stack", () => {
    const script = `"${process.execPath}" "${cli.program}" lab list --host node | head -c 1`;
    const { stderr } = spawnSync("bash", ["-o", "pipefail", "-c", script], { encoding: "utf8" });
    expect(stderr).toBe("");
  });
});

// What a terminal would obey reaches no output of a command, wherever it comes from: a record, a file, an argument. The same for reports.

/** Every character that a terminal obeys, except the end of a line and the tab. */
const OBEYED = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const codes = [...Array(0xa0).keys()].filter((code) => code < 0x20 || code > 0x7e);
const HOSTILE = [
  ...codes.filter((code) => code !== 9 && code !== 10).map((code) => String.fromCharCode(code)),
  "\u001b[2J\u001b]0;title\u0007\u001b[31mred\u009b31mred",
  "<script>alert(1)</script><img src=x onerror='alert(1)'>",
  "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
].join("");

describe("text for a terminal", () => {
  test("has no character that a terminal obeys, and changes nothing else", () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCodePoint(code)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join("");
        for (const shown of [visible(text), terminalText(text)]) {
          expect(shown).not.toMatch(OBEYED);
          expect(shown.replace(/\\u[0-9a-f]{4}/g, "")).toBe(visible(text).replace(/\\u[0-9a-f]{4}/g, ""));
        }
        // In JSON, the escape is the character.
        expect(JSON.parse(visible(JSON.stringify([text])))).toEqual([text]);
      }),
    );
  });
});

describe("a command", () => {
  const cli = new BuiltCli();
  /** Writes a run whose texts for people are hostile, and one in which every text is. */
  beforeAll(() => {
    const everyText = (value: unknown, isHostile: (key: string) => boolean, key = ""): unknown => {
      if (typeof value === "string") return isHostile(key) ? `${value}${HOSTILE}` : value;
      if (Array.isArray(value)) return value.map((each) => everyText(each, isHostile, key));
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, everyText(each, isHostile, name)]));
    };
    const shown = new Set(["cpu", "thing", "peer", "setUp", "title", "command", "failed", "why", "node"]);
    const results = answered();
    const failed = { ...results.answers[0]!, failed: "it broke" };
    const run = everyText({ ...results, answers: [failed, ...results.answers] }, (key) => shown.has(key));
    mkdirSync(cli.path("shown"));
    writeFileSync(cli.path("shown", "results.json"), JSON.stringify(run));
    writeFileSync(cli.path("throws.bench.mjs"), `throw new Error(${JSON.stringify(HOSTILE)});`);
    writeFileSync(cli.path("throws.tasks.mjs"), `export function f() { throw new Error(${JSON.stringify(HOSTILE)}); }`);
    writeFileSync(cli.path("damaged.json"), HOSTILE);
  });
  afterAll(() => cli.remove());

  // An argument cannot have the character U+0000.
  const argument = HOSTILE.replace("\0", "");
  test.each([
    ["compare", "shown", "nowhere"],
    ["compare", "throws.bench.mjs", "throws.bench.mjs"],
    ["report", "shown"],
    ["export", "markdown", "shown"],
    ["export", "jetpack", "shown"],
    ["export", "markdown", "damaged.json"],
    ["lab", argument],
    ["lab", "--profile", "published", argument],
    ["bench", "throws.bench.mjs"],
    ["bench", argument],
    ["measure", "throws.tasks.mjs#f"],
    ["ratio", "--name", argument],
    ["init", "bench", argument],
    ["jank", argument],
    [argument],
    ["lab", `--${argument}`],
  ])("%j prints no character that a terminal obeys", async (...args) => {
    const { stdout, stderr } = await cli.run(args, { ...TESTED, NO_COLOR: "1" });
    expect(stdout + stderr).not.toBe("");
    expect(stdout).not.toMatch(OBEYED);
    expect(stderr).not.toMatch(OBEYED);
  });

  test("writes no such character into a report, and no HTML of a record", async () => {
    expect(await cli.run(["report", "shown", "--out", "page.html"])).toMatchObject({ code: 0 });
    const page = readFileSync(cli.path("page.html"), "utf8");
    expect(page).toContain("\\u202e");
    expect(page).not.toMatch(OBEYED);
    expect(page).not.toMatch(/<(?:script|img)\b/);
  });
});
