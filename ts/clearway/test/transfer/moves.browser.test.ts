// SPDX-License-Identifier: MIT OR Apache-2.0
import { move } from "clearway";
import { expect, test } from "vitest";
import { movesStreams } from "../fixtures/capabilities.js";
import { builtUrl, plainPool, testPool } from "../fixtures/pools.js";
import { foreignRealm } from "./realms.js";

test("an ImageBitmap moves", async () => {
  const { call } = testPool<typeof import("../fixtures/moves.tasks.js")>(builtUrl("moves"), { strict: true });
  const { bitmap } = await call.bitmap();
  expect([bitmap.width, bitmap.height]).toEqual([4, 2]);
  bitmap.close();
});

const frame = document.body.appendChild(document.createElement("iframe"));
const evaluate = (code: string): unknown => (frame.contentWindow as unknown as typeof globalThis).eval(code);
foreignRealm(evaluate);

test.runIf(movesStreams)("a port and a stream of another realm move", async () => {
  const value = evaluate("({ port: new MessageChannel().port1, stream: new ReadableStream() })");
  const got = (await plainPool().call.echo(move(value))) as { port: MessagePort; stream: ReadableStream };
  expect(got.port).toBeInstanceOf(MessagePort);
  expect(got.stream).toBeInstanceOf(ReadableStream);
});
