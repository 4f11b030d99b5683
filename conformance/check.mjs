// SPDX-License-Identifier: MIT OR Apache-2.0
// `node conformance/check.mjs LANGUAGE`: sends every case to a language and lists the wrong answers. The cases in
// known-failures/LANGUAGE.txt must still fail.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { casesOf, judge } from "./cases.mjs";
import { linesOf } from "./lines.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const json = (path) => JSON.parse(readFileSync(here(path), "utf8"));

/** The cases for every language. */
export const cases = casesOf(json("vectors.json").vectors, json("corpus.json").messages);

/** Writes the questions to a command's standard input. Resolves with its answers in the same order. Rejects if the command ends early. */
export async function ask(command, questions) {
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
    child.stdin.on("error", reject);
  });
  child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  const answers = [];
  for await (const line of linesOf(child.stdout)) answers.push(JSON.parse(line));
  const status = await ended;
  if (answers.length !== questions.length || status !== 0)
    throw new Error(
      `${command.join(" ")}: ${answers.length} answers to ${questions.length} cases, exit status ${status}`,
    );
  return answers;
}

/**
 * Returns the wrong answers of Flutter's engine, one line per case, and the number of cases that are left out, by reason
 * (flutter/limits.mjs).
 */
export async function checkFlutter() {
  // The answers of TypeScript need a built library, which the other languages do not.
  const { judgeFlutter } = await import("./flutter/limits.mjs");
  const asked = cases.map((each) => each.ask);
  const answers = await ask([process.execPath, here("run"), "flutter"], asked);
  const problems = [];
  const leftOut = new Map();
  for (const [at, each] of asked.entries()) {
    const { id, ...rest } = each;
    const found = judgeFlutter(rest, answers[at]);
    if (found.wrong) problems.push(`${id.slice(id.indexOf(" ") + 1)}: ${found.wrong}`);
    if (found.leftOut) leftOut.set(found.leftOut, (leftOut.get(found.leftOut) ?? 0) + 1);
  }
  return { problems, leftOut };
}

/** Returns the wrong answers of a language, one line per case. */
export async function check(language) {
  const answers = await ask(
    [process.execPath, here("run"), language],
    cases.map((each) => each.ask),
  );
  const path = here(`known-failures/${language}.txt`);
  const known = new Set(existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : []);
  return cases.flatMap((each, at) => {
    const { id } = each.ask;
    const name = id.slice(id.indexOf(" ") + 1);
    const wrong = judge(each, answers[at]);
    if (known.has(name)) return wrong ? [] : [`${name}: is right now; take it out of known-failures/${language}.txt`];
    return wrong ? [`${name}: ${wrong}`] : [];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const language = process.argv[2] ?? "ts";
  const missing = language === "flutter" ? await (await import("./flutter/installed.mjs")).flutterProblem() : undefined;
  if (missing !== undefined) console.log(`flutter: left out. ${missing}`);
  else {
    const { problems, leftOut = new Map() } =
      language === "flutter" ? await checkFlutter() : { problems: await check(language) };
    for (const problem of problems) console.error(problem);
    console.log(`${language}: ${cases.length} cases, ${problems.length} wrong`);
    for (const [why, count] of leftOut) console.log(`  ${count} left out: ${why}`);
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
