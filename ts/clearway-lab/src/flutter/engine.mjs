// SPDX-License-Identifier: MIT OR Apache-2.0
// The process with Flutter's engine, and its requests. The engine may crash or hang: each request has a limit of time, and a process that
// misses it is killed. One request runs at a time; the others wait.
import { spawn } from "node:child_process";
import { readValue, valueBytes } from "./values.mjs";

/** Number of characters of the engine's own output that are kept to explain its end. */
const OUTPUT_KEPT = 2000;
/** Time for a request that only encodes or decodes, in milliseconds. */
const REQUEST_MS_MAX = 20_000;
const END_MS_MAX = 2000;
/** The largest answer: 1,000,000 times of round trips, and a message. */
const ANSWER_BYTES_MAX = 64 << 20;

export const CODECS = ["standard", "json", "string", "binary", "standard-method", "json-method"];
const BY = { bytes: 0, message: 1, method: 2 };

/** Why a request failed. `refused`: the engine's codec or channel refused it. `ended`: the process ended. `silent`: it was too slow. */
export class EngineError extends Error {
  name = "EngineError";
  /** @param {"refused" | "ended" | "silent"} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Starts the process: `program` with the app in `folder`. Resolves when the engine is loaded. Rejects with an EngineError if it cannot be
 * loaded; no process is left then. With `display`, the process can open a window. `limitMs` is the default limit of each request.
 *
 * @param {{ program: string, folder: string, display?: string, limitMs?: number }} options
 */
export async function startEngine({ program, folder, display, limitMs = REQUEST_MS_MAX }) {
  const engine = new Engine({ program, folder, display, limitMs });
  try {
    await engine.request(Buffer.from("c"));
    return engine;
  } catch (error) {
    await engine.end();
    throw error;
  }
}

export class Engine {
  #child;
  #limitMs;
  #output = "";
  #ended;
  #exited;
  #waiting = [];
  #received = Buffer.alloc(0);
  #kill = () => this.#child.kill("SIGKILL");

  constructor({ program, folder, display, limitMs }) {
    this.#limitMs = limitMs;
    this.#child = spawn(program, [folder], { stdio: ["pipe", "pipe", "pipe"], env: environmentOf(display) });
    process.once("exit", this.#kill);
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#fail(new EngineError("ended", `the program did not start: ${error.message}`));
        resolve();
      });
      // After "close", all of its output was read.
      this.#child.once("close", (code, signal) => {
        this.#fail(new EngineError("ended", `Flutter's engine ended: code=${code} signal=${signal}${this.#said()}`));
        resolve();
      });
    });
    this.#child.stdin.on("error", () => {});
    this.#child.stdout.on("data", (bytes) => this.#receive(bytes)).on("error", () => {});
    this.#child.stderr.setEncoding("utf8").on("error", () => {});
    this.#child.stderr.on("data", (text) => {
      this.#output = (this.#output + text).slice(-OUTPUT_KEPT);
    });
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * Returns the bytes of a value. Rejects with `refused` if the codec has none, and with a NoSuchValueError if the engine has no such
   * value.
   *
   * @param {string} codec
   * @param {unknown} value
   * @returns {Promise<Buffer>}
   */
  async encode(codec, value) {
    return this.request(Buffer.concat([Buffer.from(["e".charCodeAt(0), codecId(codec)]), valueBytes(value)]));
  }

  /**
   * Returns the value of a message. `as` is `call` or `reply` for a method's codec. `float` makes the value of a float64.
   *
   * @param {string} codec
   * @param {Uint8Array} message
   * @param {"call" | "reply"} [as]
   * @param {(number: number) => unknown} [float]
   * @returns {Promise<unknown>}
   */
  async decode(codec, message, as, float) {
    const kind = as === undefined ? 0 : as === "call" ? 1 : 2;
    const answer = await this.request(Buffer.concat([Buffer.from(["d".charCodeAt(0), codecId(codec), kind]), message]));
    return readValue(answer, 0, float).value;
  }

  /**
   * Times a codec: the medians of batches, in nanoseconds a call, and the message.
   *
   * @param {string} codec
   * @param {unknown} value
   * @param {number} batches
   * @param {number} [limitMs]
   */
  async time(codec, value, batches, limitMs) {
    const head = Buffer.alloc(6);
    head.write("t");
    head[1] = codecId(codec);
    head.writeUInt32LE(batches, 2);
    const answer = await this.request(Buffer.concat([head, valueBytes(value)]), limitMs);
    return { encodeNs: answer.readDoubleLE(0), decodeNs: answer.readDoubleLE(8), message: answer.subarray(20) };
  }

  /**
   * Opens the window, in which the Dart program starts. Needs `display`.
   *
   * @param {number} [limitMs]
   */
  async openWindow(limitMs) {
    await this.request(Buffer.from("w"), limitMs);
  }

  /**
   * Sends `count` messages to the Dart program, `inFlight` at the same time. `by` is `bytes` (with `bytes`), `message` (with `value`) or
   * `method` (with `method` and `value`). Resolves with the times and the last answer: bytes, or a value. Rejects with `silent` if the
   * program does not answer: messages on a channel without a handler wait for ever.
   *
   * @param {{ by: "bytes" | "message" | "method", codec: string, channel: string, method?: string, value?: unknown, bytes?: Uint8Array,
   *   count: number, inFlight: number }} trips
   * @param {number} [limitMs]
   * @returns {Promise<{ ms: number, ns: Float64Array, answer: unknown }>}
   */
  async roundTrips({ by, codec, channel, method, value, bytes, count, inFlight }, limitMs) {
    const head = Buffer.alloc(11);
    head.write("r");
    head[1] = BY[by];
    head[2] = codecId(codec);
    head.writeUInt32LE(count, 3);
    head.writeUInt32LE(inFlight, 7);
    const parts = [head, text(channel)];
    if (by === "method") parts.push(text(method));
    parts.push(by === "bytes" ? bytes : valueBytes(value));
    const answer = await this.request(Buffer.concat(parts), limitMs);
    const ns = Float64Array.from({ length: count }, (_, at) => answer.readDoubleLE(8 + at * 8));
    const rest = answer.subarray(8 + count * 8);
    return { ms: answer.readDoubleLE(0) / 1e6, ns, answer: by === "bytes" ? rest.subarray(4) : readValue(rest).value };
  }

  /**
   * Sends a request of native/flutter/main.c. Resolves with the answer's parts. Rejects with an EngineError.
   *
   * @param {Uint8Array} bytes
   * @returns {Promise<Buffer>}
   */
  request(bytes, limitMs = this.#limitMs) {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, limitMs, resolve, reject });
      if (this.#waiting.length === 1) this.#send();
    });
  }

  /** Ends the process, and resolves after its exit. What still waits fails. */
  async end() {
    this.#child.stdin.end();
    const timer = setTimeout(this.#kill, this.#waiting.length > 0 ? 0 : END_MS_MAX);
    await this.#exited;
    clearTimeout(timer);
    process.off("exit", this.#kill);
  }

  #send() {
    const next = this.#waiting[0];
    if (next === undefined) return;
    const size = Buffer.alloc(4);
    size.writeUInt32LE(next.bytes.length);
    this.#child.stdin.write(size);
    this.#child.stdin.write(next.bytes);
    next.timer = setTimeout(() => {
      this.#fail(
        new EngineError("silent", `Flutter's engine did not answer in time: limitMs=${next.limitMs}${this.#said()}`),
      );
    }, next.limitMs);
  }

  #receive(bytes) {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= 4) {
      const size = this.#received.readUInt32LE(0);
      if (size === 0 || size > ANSWER_BYTES_MAX || this.#waiting.length === 0) {
        this.#fail(new EngineError("ended", `Flutter's engine wrote what is no answer: bytes=${size}${this.#said()}`));
        return;
      }
      if (this.#received.length < 4 + size) return;
      const answer = this.#received.subarray(5, 4 + size);
      const isGood = this.#received[4] === 0;
      this.#received = this.#received.subarray(4 + size);
      const { resolve, reject, timer } = this.#waiting.shift();
      clearTimeout(timer);
      if (isGood) resolve(answer);
      else reject(new EngineError("refused", answer.toString("utf8")));
      this.#send();
    }
  }

  #fail(error) {
    this.#ended ??= error;
    this.#received = Buffer.alloc(0);
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(this.#ended);
    }
    this.#kill();
  }

  #said() {
    const last = this.#output.trim().split("\n").slice(-4).join(" | ");
    return last === "" ? "" : ` It wrote: ${last}`;
  }
}

function codecId(codec) {
  const id = CODECS.indexOf(codec);
  if (id < 0) throw new RangeError(`no such codec: codec=${codec} (${CODECS.join(", ")})`);
  return id;
}

function text(value) {
  const bytes = Buffer.from(value);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, bytes]);
}

/** Software rendering, and neither accessibility nor settings: these would start programs and talk to the user's session. */
function environmentOf(display) {
  const { DISPLAY: _, WAYLAND_DISPLAY: __, DBUS_SESSION_BUS_ADDRESS: ___, ...env } = process.env;
  return {
    ...env,
    GDK_BACKEND: "x11",
    GSETTINGS_BACKEND: "memory",
    LIBGL_ALWAYS_SOFTWARE: "1",
    NO_AT_BRIDGE: "1",
    ...(display === undefined ? {} : { DISPLAY: display }),
  };
}
