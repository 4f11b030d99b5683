// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the answers to the questions at the top of the report: a sentence each, and a table if an answer has several comparisons.
import { type Answer, type ComparedAnswer, verdictOfPart } from "../run/answer.js";
import { isWithinNoise } from "../statistics/decide.js";
import { answerLines, noiseText, rangeText } from "./answer-text.js";
import { type Html, html } from "./html.js";
import { shown, times, unitText, withMicroSign } from "./number.js";
import { scrolling } from "./scroll.js";

/** `subject` heads the column of the first figure of each comparison. */
export function answersHtml(answers: readonly Answer[], subject = "Clearway"): Html {
  return html`<ul class="verdicts answers">${answers.map((answer) => {
    const { sentence, parts } = answerLines(answer);
    if (parts.length === 0) return html`<li>${withMicroSign(sentence)}</li>`;
    return html`<li>${sentence}.${scrolling(sentence, partsTable(answer.parts, subject))}</li>`;
  })}</ul>`;
}

/** The ratio and the verdict come first, because a narrow screen shows only the first columns without scrolling. */
function partsTable(parts: readonly ComparedAnswer[], subject: string): Html {
  return html`<table><thead><tr><th class="text" scope="col">comparison</th><th scope="col">ratio</th><th class="text" scope="col">verdict</th><th scope="col">${subject}</th><th scope="col">compared with</th><th scope="col">interval</th></tr></thead><tbody>${parts.map(
    (part) =>
      html`<tr class="${verdictOfPart(part) === "decided" ? "decided" : "open"}"><th scope="row">${part.compared.label ?? ""}</th><td>${part.decision === undefined ? "" : times(part.decision.ratio)}</td><td class="text${part.why === undefined ? "" : " reason"}">${verdictText(part)}</td>${figureCell(part.subject, part)}${figureCell(part.reference, part)}<td>${part.decision === undefined ? "" : `${rangeText(part.decision)}, ${part.decision.rounds} rounds`}</td></tr>`,
  )}</tbody></table>`;
}

function figureCell(value: number | undefined, { unit = "", compared }: ComparedAnswer): Html {
  if (value === undefined) return html`<td></td>`;
  return html`<td title="${compared.metric}">${shown(value)} ${unitText(unit)}</td>`;
}

function verdictText(part: ComparedAnswer): string {
  const { decision, why } = part;
  const verdict = verdictOfPart(part);
  if (why !== undefined) return `${verdict}: ${why}`;
  return decision !== undefined && isWithinNoise(decision) ? `${verdict}: ${noiseText(decision)}` : verdict;
}
