// SPDX-License-Identifier: MIT OR Apache-2.0
// The messages of the scenario `channel-flutter`, and what the Dart program answers to them. The channels are those that every Flutter app
// has (`flutter/...`), and that of the plugin window_manager, which the app has.
import { float64 } from "clearway/channel";
import { payloadOf } from "../channel/payload.js";
import { textParam } from "../protocol/measured.js";
import type { Params } from "../protocol/message.js";

/** One message: its channel and codec, its value (the arguments, for a method), and the expected answer. */
export interface Row {
  channel: "flutter/lifecycle" | "flutter/keyevent" | "window_manager";
  codec: "string" | "json" | "standard-method";
  method?: string;
  value: unknown;
  /** The answer of the codecs of Clearway, and of the worker that answers as the program does. */
  answer: unknown;
}

/** A method to which window_manager answers null, after it has decoded the arguments. No listener is registered, so it calls none. */
const METHOD = "onEvent";

/** An event of a key, as the engine sends it. The program ignores what it does not know, such as `text`. */
const KEY_EVENT = {
  type: "keydown",
  keymap: "linux",
  toolkit: "gtk",
  scanCode: 38,
  keyCode: 97,
  unicodeScalarValues: 97,
  modifiers: 0,
};
const TEXT_CHARACTERS = 1 << 20;

/** Returns the row with these parameters. Throws a RangeError, with the existing rows, for another. */
export function rowOf(params: Params): Row {
  const [channel, codec, payload] = ["channel", "codec", "payload"].map((name) => textParam(params, name));
  const make = ROWS[`${channel}, ${codec}, ${payload}`];
  if (make === undefined)
    throw new RangeError(
      `no such message: channel=${channel} codec=${codec} payload=${payload} (${Object.keys(ROWS).join("; ")})`,
    );
  return make();
}

const call = (payload: string) => (): Row => ({
  channel: "window_manager",
  codec: "standard-method",
  method: METHOD,
  value: payloadOf(payload, float64),
  answer: null,
});

const ROWS: Record<string, () => Row> = {
  "message, string, small": () => ({
    channel: "flutter/lifecycle",
    codec: "string",
    value: "AppLifecycleState.resumed",
    answer: "",
  }),
  "message, json, small": () => ({
    channel: "flutter/keyevent",
    codec: "json",
    value: KEY_EVENT,
    answer: { handled: false },
  }),
  "message, json, 1 MB": () => ({
    channel: "flutter/keyevent",
    codec: "json",
    value: { ...KEY_EVENT, text: "x".repeat(TEXT_CHARACTERS) },
    answer: { handled: false },
  }),
  "method, standard, null": call("null"),
  "method, standard, 2 KB": call("2 KB"),
  "method, standard, 1 MB": call("1 MB"),
};
