// SPDX-License-Identifier: MIT OR Apache-2.0
import { binaryCodec, connect, type Endpoint } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { commandBytes, commandChannel, remote } from "../remote.mjs";
import { Chart } from "./chart.js";
import { Commands } from "./commands.js";
import { Figures, FrameCount } from "./figures.js";
import type { Shown } from "./split.js";
import { type Frame, remotePoint, View } from "./view.js";

const pingEveryMs = 250;
const drawEveryMs = 250;

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

const state = element("state");
const say = (name: string, text: string): void => {
  state.dataset["state"] = name;
  state.textContent = text;
};

const screen = element<HTMLCanvasElement>("screen");
const chart = new Chart(element("chart"));
const figures = new Figures(element("figures"));
const commands = new Commands();
const count = new FrameCount();

const view = new View(screen, (frames, paintedMs) => {
  for (const { shown, arrivedMs } of frames) {
    for (const trip of commands.painted(shown, arrivedMs, paintedMs)) {
      chart.add(trip);
      figures.add(trip);
    }
  }
});

async function watch(endpoint: Endpoint, size: { width: number; height: number; rate: number }): Promise<void> {
  // Two frames are in flight: the page reads one while the next one arrives. No frame waits behind them.
  const frames = remote.caller(endpoint).listen.frames(size, { window: { items: 2, bytes: 1 << 30 } });
  for await (const { number, width, height, shown, pixels } of frames) {
    const arrivedMs = performance.now();
    count.add(number, arrivedMs);
    view.show({ width, height, pixels, shown: shownOf(shown), arrivedMs } satisfies Frame);
  }
}

function shownOf(triples: Float64Array): Shown[] {
  const shown: Shown[] = [];
  for (let at = 0; at + 2 < triples.length; at += 3) {
    const [command = 0, keptMs = 0, nativeMs = 0] = triples.subarray(at, at + 3);
    shown.push({ command, keptMs, nativeMs });
  }
  return shown;
}

function control(endpoint: Endpoint): void {
  const channel = endpoint.messages(commandChannel, binaryCodec);
  const send = (event: PointerEvent): void => {
    const { x, y } = remotePoint(screen, event);
    const command = new DataView(new ArrayBuffer(commandBytes));
    command.setUint32(0, commands.send(performance.now()), true);
    command.setInt32(4, x, true);
    command.setInt32(8, y, true);
    command.setUint32(12, event.buttons, true);
    channel.post(new Uint8Array(command.buffer)).catch(() => {});
  };
  for (const type of ["pointermove", "pointerdown", "pointerup"] as const) screen.addEventListener(type, send);
}

async function pingOn(endpoint: Endpoint, closed: AbortSignal): Promise<void> {
  const { call } = remote.caller(endpoint);
  while (!closed.aborted) {
    const sentMs = performance.now();
    await call.ping();
    const atMs = performance.now();
    chart.addPing({ atMs, roundTripMs: atMs - sentMs });
    figures.addPing(atMs - sentMs);
    await new Promise((resolve) => setTimeout(resolve, pingEveryMs));
  }
}

function weatherOf(form: HTMLFormElement): { delayMs: number; lossRate: number; bytesPerSecond: number } {
  const data = new FormData(form);
  const value = (name: string): number => Number(data.get(name));
  return { delayMs: value("delayMs"), lossRate: value("lossRate"), bytesPerSecond: value("bytesPerSecond") };
}

function draw(): void {
  const nowMs = performance.now();
  chart.draw(nowMs);
  figures.draw();
  drawCount(nowMs);
  const told = element("commands");
  Object.assign(told.dataset, { sent: commands.sent, shown: commands.shown });
  told.textContent = `${commands.sent.toLocaleString("en")} commands sent since the page was opened, ${commands.shown.toLocaleString("en")} seen in a picture`;
}

function drawCount(nowMs: number): void {
  const { shown, made, dropped } = count;
  const frames = element("frames");
  Object.assign(frames.dataset, { shown, made, dropped });
  const text = `${dropped.toLocaleString("en")} of ${made.toLocaleString("en")} dropped for newer ones`;
  frames.textContent = `${count.lastSecond(nowMs)} frames in the last second; ${made === 0 ? "none counted yet" : text}`;
}

/** Drops the figures: the table's values, and the count of dropped frames. */
function clear(): void {
  figures.clear();
  count.clear();
  drawCount(performance.now());
}

async function start(): Promise<void> {
  const where = document.querySelector<HTMLMetaElement>("meta[name=channel]");
  if (!where) throw new Error(`the page has no <meta name="channel"> with the URL of the channel`);
  const token = where.dataset["token"] ?? "";
  const endpoint = await connect(webSocketTransport(where.content, { token, frameBytesMax: 9 << 20 }));
  const closed = new AbortController();
  void endpoint.closed.then(({ message }) => {
    closed.abort();
    say("lost", `The connection has ended: ${message}. Reload to connect again.`);
  });
  say("connected", "Connected");
  const query = new URLSearchParams(location.search);
  const number = (name: string, otherwise: number): number => Number(query.get(name) ?? otherwise);
  const size = { width: number("width", 640), height: number("height", 360), rate: number("rate", 60) };
  control(endpoint);
  const form = element<HTMLFormElement>("weather");
  form.addEventListener("change", () => {
    remote
      .caller(endpoint)
      .call.weather(weatherOf(form))
      .then(
        () => {
          // What was measured on the network before says nothing about this one.
          clear();
          form.dataset["set"] = String(Number(form.dataset["set"] ?? 0) + 1);
        },
        (reason) => say("lost", String(reason)),
      );
  });
  element("reset").addEventListener("click", clear);
  setInterval(draw, drawEveryMs);
  await Promise.all([watch(endpoint, size), pingOn(endpoint, closed.signal)]);
}

start().catch((reason: unknown) => {
  if (state.dataset["state"] !== "lost") say("lost", `${String(reason)}. Reload to connect again.`);
});
