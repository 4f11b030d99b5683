// SPDX-License-Identifier: MIT OR Apache-2.0
// Completion in real shells: what bash, zsh and fish offer at a TAB. Also that the page of the command line names every command.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { candidates } from "../src/cli/candidates.js";
import { BuiltCli } from "./built-cli.js";

let cli: BuiltCli;
beforeAll(() => {
  cli = new BuiltCli();
});
afterAll(() => cli.remove());

/** Runs a script in a real shell, with the command on its path. Returns the lines that it prints. */
function inShell(program: string, options: string[], script: string): string[] {
  const bin = cli.path("bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(`${bin}/clearway`, `#!/bin/sh\nexec "${process.execPath}" "${cli.program}" "$@"\n`);
  chmodSync(`${bin}/clearway`, 0o755);
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const { stdout, stderr } = spawnSync(program, [...options, "-c", script], {
    encoding: "utf8",
    env,
    cwd: cli.scratch,
  });
  expect(stderr).toBe("");
  return stdout.split("\n").slice(0, -1);
}

/** Returns whether a shell is installed. Set-up installs zsh and fish on Debian. Without one, its test is skipped. */
function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

describe("clearway completion bash", () => {
  /** Completes command lines. Returns the candidates of each line. */
  function complete(...lines: string[][]): string[][] {
    const quoted = lines.map((words) => `try ${words.map((word) => `'${word}'`).join(" ")}`);
    const script = `source <(clearway completion bash)
      try() {
        COMP_WORDS=(clearway "$@"); COMP_CWORD=$#
        _clearway_complete
        local IFS='|'; echo "\${COMPREPLY[*]}"
      }
      ${quoted.join("\n")}`;
    return inShell("bash", ["--norc"], script).map((line) => line.split("|").filter((each) => each !== ""));
  }

  test("completes in a real bash, quotes a space, and runs nothing that was typed", () => {
    mkdirSync(cli.path("my runs"));
    expect(
      complete(
        ["lab", "students/cl"],
        ["lab", "--host", "=", "j"],
        ["report", "my"],
        ["lab", "--out", "my\\ r"],
        ["lab", "$(mkdir injected)", "`mkdir injected`"],
        ["report", "inj"],
      ),
    ).toEqual([
      ["students/clearway-columns", "students/clearway-records"],
      ["jvm"],
      ["my\\ runs/"],
      ["my\\ runs/"],
      [],
      [],
    ]);
  });

  test("offers every visible command and option of commander's program", async () => {
    const [help, lab] = await Promise.all([cli.run(["--help"]), cli.run(["lab", "--help"])]);
    const commands = [...help.stdout.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1]);
    const options = [...lab.stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1]);
    const [foundCommands, foundOptions] = complete([""], ["lab", "--"]);
    expect(foundCommands?.sort()).toEqual(commands.sort());
    expect(foundOptions?.sort()).toEqual(options.sort());
  });
});

describe.skipIf(!isInstalled("zsh"))("clearway completion zsh", () => {
  test("completes in a real zsh, keeps a space and a colon, and runs nothing that was typed", () => {
    mkdirSync(cli.path("zsh runs"), { recursive: true });
    mkdirSync(cli.path("zsh:colon"), { recursive: true });
    // Three functions of zsh's completion system, which works in a terminal only, print what they get.
    const script = `compdef() { }
      _describe() { local -a all=("\${(@P)2}"); print -r -- "items|\${(j:|:)all}" }
      compadd() { shift 3; print -r -- "folders|\${(j:|:)@}" }
      source <(clearway completion zsh)
      try() { words=(clearway "$@"); CURRENT=$#words; _clearway_complete; print -r -- end }
      try lab students/cl
      try lab --host = j
      try report zsh
      try lab '$(mkdir injected)' '\`mkdir injected\`'
      try report inj`;
    expect(inShell("zsh", ["-f"], script)).toEqual([
      "items|students/clearway-columns:Clearway, moved columns|students/clearway-records:Clearway, records",
      "end",
      "items|jvm:",
      "end",
      "folders|zsh runs/|zsh:colon/",
      ...["end", "end", "end"],
    ]);
  });
});

describe.skipIf(!isInstalled("fish"))("clearway completion fish", () => {
  test("completes in a real fish, keeps a space, and runs nothing that was typed", () => {
    mkdirSync(cli.path("fish runs"), { recursive: true });
    const script = `clearway completion fish | source
      for line in 'lab students/cl' 'lab --host j' 'report fish' 'lab (mkdir injected) x' 'report inj'
        complete -C "clearway $line"
        echo end
      end`;
    const lines = inShell("fish", ["--no-config"], script).filter((line) => line !== "");
    expect(lines).toEqual([
      "students/clearway-columns\tClearway, moved columns",
      "students/clearway-records\tClearway, records",
      "end",
      "jvm",
      "end",
      "fish runs/",
      ...["end", "end", "end"],
    ]);
  });
});

describe("the candidates of a program", () => {
  const program = new Command("clearway");
  program.command("doctor").option("--json", "print JSON");
  program
    .command("lab")
    .argument("[what...]")
    .option("--host <names>", "hosts")
    .option("--profile <name>")
    .option("--json", "print JSON");
  program.command("export").argument("<format>").argument("<run>");
  program.command("secret", { hidden: true });
  const complete = (...words: string[]) => candidates(program, words).map(({ value }) => value);

  test.each<[string[], string[]]>([
    [["doc"], ["doctor"]],
    [["se"], []],
    [["lab", "isol"], ["isolate"]],
    [
      ["lab", "--host", ""],
      ["node", "chromium", "jvm", "flutter", "swift"],
    ],
    [["lab", "--host", "node,c"], ["node,chromium"]],
    [
      ["lab", "--host", "="],
      ["node", "chromium", "jvm", "flutter", "swift"],
    ],
    [["lab", "--host=n"], ["--host=node"]],
    [
      ["lab", "--host", "node", "--"],
      ["--profile", "--json", "--help"],
    ],
    [["lab", "--json", "push", "memo"], ["memory"]],
    [["lab", "--profile", "promises-"], ["promises-full"]],
    [["lab", "--", "--ho"], []],
    [["lab", "--unknown", "isol"], ["isolate"]],
    [
      ["export", "j"],
      ["jetpack", "jmh"],
    ],
    [["nonsense", ""], []],
    [["doctor", "lab", ""], []],
    [["report", "/no/such/folder/"], []],
    [[], ["doctor", "lab", "export", "help"]],
  ])("complete %j", (words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });
});

describe("clearway completion", () => {
  test("prints scripts for zsh and fish, and refuses other shells", async () => {
    expect((await cli.run(["completion", "zsh"])).stdout).toMatch("compdef _clearway_complete clearway");
    expect((await cli.run(["completion", "fish"])).stdout).toMatch("complete -c clearway");
    const { code, stderr } = await cli.run(["completion", "csh"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching("Allowed choices are bash, zsh, fish")]);
  });
});

describe("the page of the command line", () => {
  const page = readFileSync(new URL("../../../docs/lab/command-line.md", import.meta.url), "utf8");

  test("has a row for each command, and names the commands with --json", async () => {
    const help = async (...command: string[]) => (await cli.run([...command, "--help"])).stdout;
    const commands = [...(await help()).matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== "help");
    expect(commands.length).toBeGreaterThan(15);
    const rows = page.split("\n").filter((line) => line.startsWith("| `clearway "));
    const withJson: string[] = [];
    for (const name of commands) {
      expect([name, rows.some((row) => row.startsWith(`| \`clearway ${name}`))]).toEqual([name, true]);
      if ((await help(name)).includes("--json")) withJson.push(name);
    }
    const [, listed = ""] = /It is an option\s+of ([^.]+)\./.exec(page) ?? [];
    const named = [...listed.matchAll(/`([a-z ]+)`/g)].map(([, name]) => name!).filter((name) => name !== "lab list");
    expect(named.sort()).toEqual(withJson.sort());
  });
});
