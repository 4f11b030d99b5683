// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Borders = typeof import("../fixtures/borders.tasks.js");
const emptyModule = () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));

test("a value that another process cannot read fails at its sender, with its name, and no other call of the message", async () => {
  const { call } = testPool<Borders>(builtUrl("borders"), { processes: true, concurrency: 8 });
  expect(await call.echo(0)).toBe(0);
  const honest = Promise.all([1, 2, 3].map((each) => call.echo(each)));
  const refused = reasonOf(call.echo({ inside: emptyModule() }));
  const source = reasonOf(
    call.read(
      (async function* () {
        yield* [1, emptyModule(), 2];
      })(),
    ),
  );
  const later = call.echo(4);
  for (const reason of await Promise.all([refused, source]))
    expect(reason).toMatchObject({ code: "not-cloneable", message: expect.stringContaining("Module") });
  expect([await honest, await later]).toEqual([[1, 2, 3], 4]);
});
