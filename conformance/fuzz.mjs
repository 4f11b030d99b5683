#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node conformance/fuzz.mjs [LANGUAGE ...]`: sends the same random cases to all languages. Each language must return the same value, or
// the same error at the same byte. Flutter's own engine takes part where it is installed; flutter/limits.mjs says in what it differs.
// Shrinks and prints the cases on which they disagree. README.md in this folder lists the settings.
import { readFileSync } from "node:fs";
import { cases as known } from "./check.mjs";
import { flutterProblem } from "./flutter/installed.mjs";
import { casesFrom, randomFrom } from "./fuzz/cases.mjs";
import { outcome } from "./fuzz/compare.mjs";
import { start } from "./fuzz/languages.mjs";
import { shrink } from "./fuzz/shrink.mjs";

// The default seed is fixed. A new failure therefore comes from a change of the code. `make deep` sends more.
const { CLEARWAY_FUZZ_SEED: given = "20261121", CLEARWAY_FUZZ_RUNS = "5000" } = process.env;
const seed = given === "random" ? Math.floor(Math.random() * 2 ** 32) : Number(given);
const runs = Number(CLEARWAY_FUZZ_RUNS);
const batch = 500;
// Maximum number of printed cases. Without it, a codec that is wrong everywhere would print without end.
const shownMax = 10;

const named = process.argv.slice(2).filter((name) => name !== "flutter");
const programs = (named.length > 0 ? named : ["ts", "c"]).map(start);
const missing = await flutterProblem();
const flutter = missing === undefined ? start("flutter") : undefined;
const limits = flutter && (await import("./flutter/limits.mjs"));
const leftOut = new Map();
const corpus = readFileSync(new URL("fuzz/corpus.jsonl", import.meta.url), "utf8");

const messages = known.flatMap(({ ask }) =>
  ask.hex && ask.hex.length < 400 ? [[...Buffer.from(ask.hex, "hex")]] : [],
);
const random = randomFrom(seed);
const generated = casesFrom(random, messages);

// The engine's answer is the last one. It is compared with the answer of the first language.
function differ(asked, answers) {
  const exact = answers.slice(0, programs.length);
  if (new Set(exact.map((each) => outcome(each, asked))).size > 1) return true;
  if (flutter === undefined || limits.leftOut(asked, answers[0], answers.at(-1)) !== undefined) return false;
  return !limits.agrees(asked, answers[0], answers.at(-1));
}
const all = flutter === undefined ? programs : [...programs, flutter];
const askAll = (asked) => Promise.all(all.map((program) => program.ask(asked)));

async function differs(asked) {
  const answers = await askAll([asked]);
  return differ(
    asked,
    answers.map(([each]) => each),
  );
}

let problems = 0;
async function compare(asked) {
  const answers = await askAll(asked);
  for (const [at, each] of asked.entries()) {
    const why = limits?.leftOut(each, answers[0][at], answers.at(-1)[at]);
    if (why !== undefined) leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
    if (
      !differ(
        each,
        answers.map((of) => of[at]),
      )
    )
      continue;
    if (++problems > shownMax) continue;
    const small = await shrink(each, differs);
    console.error(`\nthe languages disagree on ${JSON.stringify(small)}`);
    for (const [which, [given]] of (await askAll([small])).entries())
      console.error(`  ${all[which].language}: ${outcome(given, small).slice(0, 500)}`);
  }
}

let asked = 0;
await compare(
  corpus
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line)),
);
for (; asked < runs && problems <= shownMax; asked += batch)
  await compare(Array.from({ length: Math.min(batch, runs - asked) }, () => generated.next().value));
await Promise.all(all.map((program) => program.end()));
const languages = all.map(({ language }) => language).join(", ");
console.log(`${languages}: ${asked} random cases of seed ${seed}, ${problems} answered differently`);
if (missing !== undefined) console.log(`flutter: left out. ${missing}`);
for (const [why, count] of leftOut) console.log(`  flutter: ${count} left out: ${why}`);
process.exitCode = problems > 0 ? 1 : 0;
