// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { Op, writeFrame } from "../../../src/channel/wire/frame.js";
import { answerBytes, bare, call, text, turn, withoutPause } from "./pairs.js";

/** Connects an endpoint whose other end posts messages of the channel `m`, over a transport that cannot pause. */
async function start(options: EndpointOptions) {
  const errors: [unknown, string][] = [];
  const onError = (error: unknown, channel: string): void =>
    void errors.push([(error as { code: unknown }).code, channel]);
  const { end, there } = await bare({ ...options, onError }, withoutPause);
  const post = (channel = "m"): void => void there.send(writeFrame({ op: Op.post, name: text.encode(channel) }));
  return { end, there, post, errors };
}

test("a post that finds no place is reported to onError at the end that drops it", async () => {
  const { end, post, errors } = await start({ callsMax: 2 });
  const waiting: (() => void)[] = [];
  let ran = 0;
  end.messages("m").handle(() => {
    ran++;
    return new Promise((resolve) => waiting.push(() => resolve(undefined)));
  });
  const flood = async (): Promise<void> => {
    for (let at = 0; at < 50; at++) post();
    await turn();
  };
  await flood();
  await flood();
  // A flood of posts is not a flood of errors.
  expect([ran, errors]).toEqual([2, [["queue-full", "m"]]]);
  for (const go of waiting.splice(0)) go();
  await turn();
  await flood();
  expect([ran, errors.length]).toEqual([4, 2]);
});

test("a post that arrives when too many bytes of answers and requests wait is reported to onError", async () => {
  const { end, there, post, errors } = await start({ replyBytesMax: 2000 });
  end.messages("m").handle(() => new Uint8Array(answerBytes));
  for (let id = 1; id <= 4; id++) there.send(call(id));
  for (let at = 0; at < 100; at++) post();
  await turn();
  expect(errors).toEqual([["queue-full", "m"]]);
});

test("a post without a handler is reported to onError", async () => {
  const { end, post, errors } = await start({ early: 1 });
  post("late");
  post("late");
  post("late");
  await turn();
  expect(errors).toEqual([["dropped", "late"]]);
  const { post: next, errors: others } = await start({ earlyMs: 0 });
  for (let at = 0; at < 1000; at++) next(`none ${at}`);
  await turn();
  // The other end chooses the names, and cannot choose the number of reports.
  expect([others[0], others.length]).toEqual([["no-handler", "none 0"], 64]);
  // A closing end reports nothing: it takes nothing any more.
  await end.close();
  expect(errors).toHaveLength(1);
});
