// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes HTML from templates. A template escapes all its values, except the results of other templates.

export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Part[];

/** Makes HTML from a template. Escapes the template's values. Joins the elements of arrays without a separator. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + (i === 0 ? "" : rendered(values[i - 1]!)) + string, ""));
}

function rendered(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return (part as readonly Part[]).map(rendered).join("");
  return escaped(String(part));
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Returns JSON for a script element. It contains no `<`, so it cannot end the element. */
export function scriptJson(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/</g, "\\u003c"));
}
