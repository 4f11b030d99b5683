// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws the README's picture from a kept run: how long a million rows block Node's main thread, as at the top of the lab's report.
import { answerOf, time } from "./fill.mjs";

const TITLE = "How long Node's main thread is blocked while a million rows arrive, to scale";
const WIDTH = 950;

/** Returns the picture as SVG. Throws if the run has not measured it. */
export function picture(results) {
  const [table, pieces] = ["records-node", "slices-node"].map((name) => answerOf(name, results));
  const bars = [
    ["as objects in one message", table.peerNs, "#7d868e"],
    ["as the same objects in pieces, with Clearway", pieces.subjectNs, "#08805f"],
    ["as a table of Clearway", table.subjectNs, "#08805f"],
  ];
  const longest = Math.max(...bars.map(([, ns]) => ns));
  const drawn = bars.map(([label, ns, colour], at) => {
    const width = ((ns / longest) * WIDTH).toFixed(1);
    return `<text x="16" y="${62 + 55 * at}"><tspan font-weight="bold">${time(ns)}</tspan> ${label}</text>
<rect x="16" y="${70 + 55 * at}" width="${width}" height="22" rx="3" fill="${colour}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 982 214" font-family="system-ui, sans-serif" font-size="16" fill="#20242c">
<title>${TITLE}</title>
<rect width="982" height="214" fill="#fcfcfa"/>
<text x="16" y="29">${TITLE}</text>
${drawn.join("\n")}
</svg>
`;
}
