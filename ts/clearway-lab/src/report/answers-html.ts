// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the answers to the questions at the top of the report: a sentence each, and a table if an answer has several comparisons.
import { type Answer, type ComparedAnswer, verdictOfPart } from "../run/answer.js";
import { answerLines, rangeText } from "./answer-text.js";
import { type Html, html } from "./html.js";
import { shown, times, unitText } from "./number.js";

export function answersHtml(answers: readonly Answer[]): Html {
  return html`<ul class="verdicts answers">${answers.map((answer) => {
    const { sentence, parts } = answerLines(answer);
    if (parts.length === 0) return html`<li>${micro(sentence)}</li>`;
    return html`<li>${sentence}.${partsTable(answer.parts)}</li>`;
  })}</ul>`;
}

function partsTable(parts: readonly ComparedAnswer[]): Html {
  return html`<div class="scroll"><table><thead><tr><th class="text" scope="col"></th><th scope="col">Clearway</th><th scope="col">compared with</th><th scope="col">ratio</th><th scope="col">interval</th><th class="text" scope="col">verdict</th></tr></thead><tbody>${parts.map(
    (part) =>
      html`<tr class="${verdictOfPart(part) === "decided" ? "decided" : "open"}"><th scope="row">${part.compared.label ?? ""}</th>${figureCell(part.subject, part)}${figureCell(part.reference, part)}<td>${part.decision === undefined ? "" : times(part.decision.ratio)}</td><td>${part.decision === undefined ? "" : `${rangeText(part.decision)}, ${part.decision.rounds} rounds`}</td><td class="text">${verdictText(part)}</td></tr>`,
  )}</tbody></table></div>`;
}

function figureCell(value: number | undefined, { unit = "", compared }: ComparedAnswer): Html {
  if (value === undefined) return html`<td></td>`;
  const name = value === undefined ? "" : compared.metric;
  return html`<td title="${name}">${shown(value)} ${unitText(unit)}</td>`;
}

function verdictText(part: ComparedAnswer): string {
  const verdict = verdictOfPart(part);
  return part.why === undefined ? verdict : `${verdict}: ${part.why}`;
}

function micro(text: string): string {
  return text.replace(/(\d) us\b/g, "$1 µs");
}
