// SPDX-License-Identifier: MIT OR Apache-2.0
// The page that measures another device: one document without inline code, readable on a phone.
import type { Amounts } from "./device/measure-device.js";
import { WORKS } from "./device/works.js";

export interface PageText {
  readonly nonce: string;
  readonly amounts: Amounts;
  /** What the page calls the lab's machine. */
  readonly here: string;
}

export function pageHtml({ nonce, amounts, here }: PageText): string {
  const pieces = WORKS.map(({ title }) => title).join(", ");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Clearway: how fast is this device?</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css"></head>
<body data-nonce="${escaped(nonce)}" data-amounts="${escaped(JSON.stringify(amounts))}"><main>
<h1>How fast is this device?</h1>
<p>Clearway compares this device with <b>${escaped(here)}</b>. The page runs ${WORKS.length} fixed pieces of JavaScript (${escaped(pieces)}) for
some seconds, and measures how long they take.</p>
<p>It sends these times, the name of this browser and its number of cores to the computer that shows this address. Nothing leaves the
local network, and nothing is stored here.</p>
<p>Keep this tab in front, and close other apps. If the tab goes to the background, the page measures that part again.</p>
<button id="start" disabled>Measure this device</button>
<progress id="progress" max="1" value="0" hidden></progress>
<p id="status" role="status"></p>
<table id="times" hidden></table>
<noscript><p>This page measures JavaScript, which is switched off in this browser.</p></noscript>
</main><script type="module" src="device.js"></script></body></html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export const STYLE = `:root { color-scheme: light dark; --accent: #0a7f66; }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; }
button { font: inherit; font-weight: 600; width: 100%; min-height: 3rem; border: 0; border-radius: 0.5rem; background: var(--accent); color: #fff; }
button:disabled { opacity: 0.5; }
button[hidden], progress[hidden], table[hidden] { display: none; }
progress { width: 100%; height: 1rem; accent-color: var(--accent); }
#status { font-weight: 600; min-height: 3rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.25rem 0; border-bottom: 1px solid #8884; text-align: left; font-weight: 400; }
td { text-align: right; font-variant-numeric: tabular-nums; }
`;
