// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, latest } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { Meter, parts } from "./meter.js";
import { Screen } from "./screen.js";

/** How long a reader takes for a frame, for who wants to see old ones dropped: `?slow=100`. */
const slowMs = Number(new URLSearchParams(location.search).get("slow") ?? 0);
const token = document.querySelector("meta[name=token]")?.getAttribute("content") ?? "";
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("screen"));
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
const counts = /** @type {HTMLOutputElement} */ (document.getElementById("counts"));

const endpoint = await connect(webSocketTransport(new URL("/screen", location.href.replace("http", "ws")), { token }));
const screen = Screen.caller(endpoint);
const meter = new Meter();

// #region commands
/** When each command left that no frame has shown yet. @type {Map<number, number>} */
const sent = new Map();
let number = 0;
let answered = 0;
canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  sent.set(++number, performance.now());
  const at = { number, x: offsetX / canvas.clientWidth, y: offsetY / canvas.clientHeight };
  screen.call.point(at).then(() => answered++); // a method's call: never dropped, always answered
});
// #endregion commands

async function pings() {
  for (;;) {
    const left = performance.now();
    await screen.call.ping();
    meter.add("bare ping", performance.now() - left);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

function show(/** @type {number} */ shown, /** @type {number} */ dropped) {
  const text = (/** @type {number | undefined} */ ms) => (ms === undefined ? "" : ms.toFixed(1));
  const rows = parts.map(
    (part) =>
      `<tr><th>${part}</th><td>${text(meter.quantile(part, 0.5))}</td><td>${text(meter.quantile(part, 0.99))}</td></tr>`,
  );
  const table = document.getElementById("meter");
  if (table) table.innerHTML = rows.join("");
  counts.value = `${shown} frames shown, ${dropped} dropped, ${number} commands sent, ${answered} answered`;
  // For who drives the page.
  const ms = Object.fromEntries(parts.map((part) => [part, meter.quantile(part, 0.5)]));
  Object.assign(globalThis, { remote: { shown, dropped, sent: number, answered, ms } });
}

// #region frames
async function frames() {
  let shown = 0;
  const stream = screen.listen.frames(null, latest()); // the newest one; the rest is old
  for await (const { command, width, height, pixels, queueMs, makeMs } of stream) {
    const arrived = performance.now();
    pen.putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0);
    await painted();
    shown++;
    const left = sent.get(command);
    if (left !== undefined) {
      const whole = performance.now() - left;
      const paint = performance.now() - arrived;
      meter.add("round trip", whole);
      meter.add("queue", queueMs);
      meter.add("making", makeMs);
      meter.add("paint", paint);
      meter.add("network", whole - queueMs - makeMs - paint); // what is left: both ways, and what waits at their ends
      for (const each of sent.keys()) if (each <= command) sent.delete(each);
    }
    if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
    show(shown, stream.dropped);
  }
}
// #endregion frames

await Promise.all([pings(), frames()]);
