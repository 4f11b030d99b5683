// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { explain, lastCause, parseStackFrame, TOOL_URL } from "../../src/jank/cause.js";
import type { Evidence, FrameScript, Span } from "../../src/jank/evidence.js";
import { heaviestPath } from "../../src/jank/heaviest-path.js";
import { locateCause } from "../../src/jank/locate.js";
import { SourceMapper } from "../../src/jank/source-map.js";
import { APP, frame, samples, stall } from "./evidence.js";

const evidence = (changes: Partial<Evidence>): Evidence => ({ samples: [], spans: [], scripts: [], ...changes });
const span = (kind: Span["kind"], startMs: number, endMs: number): Span => ({ kind, name: kind, startMs, endMs });
const script = (changes: Partial<FrameScript> = {}): FrameScript => ({
  startMs: 1000,
  endMs: 1095,
  url: APP,
  functionName: "work",
  invoker: "TimerHandler:setTimeout",
  charPosition: 40,
  layoutMs: 0,
  pauseMs: 0,
  ...changes,
});

describe("the heaviest path", () => {
  const isApp = ({ url }: { url: string }) => url !== "";

  test("ends at the innermost function with half of the time", () => {
    const all = [
      ...samples(0, 60, [frame("main"), frame("work"), frame("inner")], { line: 7, column: 3 }),
      ...samples(60, 40, [frame("main"), frame("other")], { line: 20 }),
    ];
    const path = heaviestPath(all, isApp)!;
    expect(path.frames.map(({ functionName }) => functionName)).toEqual(["main", "work", "inner"]);
    expect(path).toMatchObject({ line: 7, column: 3, ms: 60 });
  });

  test("ends at the caller if no function that it calls has half", () => {
    const all = ["a", "b", "c"].flatMap((name, i) => samples(i * 30, 30, [frame("main"), frame(name)]));
    expect(heaviestPath(all, isApp)!.frames.map(({ functionName }) => functionName)).toEqual(["main"]);
  });

  test("names the engine's function that the last one calls, and the line of the call", () => {
    const all = samples(0, 10, [frame("main"), frame("querySelectorAll", "")], { line: 12, column: 5 });
    expect(heaviestPath(all, isApp)).toMatchObject({ builtIn: "querySelectorAll", line: 12, column: 5 });
  });

  test("is the line with most time, and the column with most time on it", () => {
    const all = [
      ...samples(0, 30, [frame("main")], { line: 4, column: 1 }),
      ...samples(30, 20, [frame("main")], { line: 5, column: 2 }),
      ...samples(50, 25, [frame("main")], { line: 5, column: 8 }),
    ];
    expect(heaviestPath(all, isApp)).toMatchObject({ line: 5, column: 8 });
  });

  test("is missing without samples, and if the engine alone ran", () => {
    expect(heaviestPath([], isApp)).toBeUndefined();
    expect(heaviestPath(samples(0, 10, [frame("forEach", "")]), isApp)).toBeUndefined();
  });

  test("survives a recursion of thousands of calls", () => {
    const deep = Array.from({ length: 10_000 }, () => frame("again"));
    expect(heaviestPath(samples(0, 2, deep), isApp)!.ms).toBe(2);
  });
});

describe("a cause", () => {
  test("is the function that ran, with its line and its callers", () => {
    const ran = samples(1000, 90, [frame("main"), frame("work")], { line: 7, column: 3 });
    const cause = explain(stall(), evidence({ samples: ran, scripts: [script()] }));
    expect(cause).toMatchObject({
      kind: "script",
      place: { functionName: "work", url: APP, line: 7, column: 3, functionLine: 1 },
      callers: [{ functionName: "main" }],
      invoker: "TimerHandler:setTimeout",
      because: "work ran for 90.0 ms of it",
    });
  });

  test("does not count samples before and after the stall", () => {
    const ran = [
      ...samples(0, 1000, [frame("before")]),
      ...samples(1000, 100, [frame("work")]),
      ...samples(1100, 900, [frame("after")]),
    ];
    expect(explain(stall(), evidence({ samples: ran })).place?.functionName).toBe("work");
  });

  test("is the machine if the meter says so, and still names the function", () => {
    const ran = samples(1000, 90, [frame("work")]);
    const machine = stall({ cause: "machine", machineMs: 60, because: "the thread was ready, and not run" });
    expect(explain(machine, evidence({ samples: ran }))).toMatchObject({
      kind: "machine",
      ms: 60,
      place: { functionName: "work" },
    });
  });

  test.each([
    ["the browser's spans", evidence({ spans: [span("gc", 1010, 1070)], samples: samples(1070, 30, [frame("fill")]) })],
    [
      "the profile",
      evidence({ samples: [...samples(1000, 60, [], { state: "gc" }), ...samples(1060, 40, [frame("fill")])] }),
    ],
  ])("is garbage collection if it took half: %s", (_, known) => {
    expect(explain(stall(), known)).toMatchObject({ kind: "gc", ms: 60, place: { functionName: "fill" } });
  });

  test("is the garbage collection that the meter saw in Node", () => {
    const collected = stall({ gcMs: 80, cause: "gc", because: "garbage collection took 80.0 ms of it" });
    expect(explain(collected, evidence({}))).toMatchObject({ kind: "gc", ms: 80 });
  });

  test("is layout, with the function that forced it", () => {
    const known = evidence({
      spans: [span("style", 1000, 1020), span("layout", 1020, 1090)],
      samples: samples(1000, 100, [frame("resize")], { line: 3 }),
      scripts: [script({ layoutMs: 90 })],
    });
    expect(explain(stall(), known)).toMatchObject({
      kind: "layout",
      ms: 90,
      place: { functionName: "resize", line: 3 },
    });
  });

  test("has parts that do not overlap: forced layout is not a part of the script's own time", () => {
    const known = evidence({ spans: [span("layout", 1060, 1090)], samples: samples(1000, 100, [frame("resize")]) });
    expect(explain(stall(), known)).toMatchObject({ kind: "script", parts: { script: 70, layout: 30 } });
  });

  test("is layout without a function if no script forced it", () => {
    const known = evidence({ spans: [span("layout", 1010, 1090)], samples: samples(1000, 10, [frame("before")]) });
    const cause = explain(stall(), known);
    expect(cause.kind).toBe("layout");
    expect(cause.place).toBeUndefined();
  });

  test("is parsing or painting if the browser did that", () => {
    expect(explain(stall(), evidence({ spans: [span("parse", 1000, 1040), span("compile", 1040, 1080)] })).kind).toBe(
      "parse",
    );
    expect(explain(stall(), evidence({ spans: [span("paint", 1000, 1080)] })).kind).toBe("paint");
  });

  test("comes from the long animation frame if there is no profile", () => {
    const cause = explain(stall(), evidence({ scripts: [script()] }));
    expect(cause).toMatchObject({ kind: "script", ms: 95, place: { functionName: "work", charPosition: 40 } });
  });

  test("comes from the meter's samples of the stack if there is nothing else", () => {
    const stacks = [{ frames: ["inner (file:///a/b.mjs:3:9)", "outer (file:///a/b.mjs:8:1)"], seen: 4 }];
    const cause = explain(stall({ cause: "app", stacks }), evidence({}));
    expect(cause).toMatchObject({
      kind: "script",
      place: { functionName: "inner", url: "file:///a/b.mjs", line: 3, column: 9 },
      callers: [{ functionName: "outer" }],
    });
  });

  test("is not a function of Node's own", () => {
    const stacks = [{ frames: ["async node:internal/modules/esm/loader:647:26"], seen: 1 }];
    expect(explain(stall({ cause: "app", stacks }), evidence({})).place).toBeUndefined();
  });

  test("is unknown if nothing took half, and says what there was", () => {
    const known = evidence({ spans: [span("paint", 1000, 1030)], samples: samples(1030, 20, [frame("work")]) });
    const cause = explain(stall(), known);
    expect(cause).toMatchObject({
      kind: "unknown",
      because: "nothing took half of it: painting 30.0 ms, scripts 20.0 ms",
    });
    expect(cause.place).toBeUndefined();
    expect(explain(stall(), evidence({})).because).toBe("the thread was busy");
  });

  test("is never the tool itself", () => {
    const known = evidence({
      samples: samples(1000, 90, [frame("start", "clearway-jank:meter")]),
      scripts: [script({ url: "clearway-jank:meter" })],
    });
    expect(explain(stall(), known).place).toBeUndefined();
  });
});

describe("the end of a run that did not complete", () => {
  test("is what took half of the last second", () => {
    const known = evidence({
      samples: [...samples(0, 3000, [], { state: "idle" }), ...samples(3000, 900, [frame("spin")])],
    });
    expect(lastCause(known)).toMatchObject({ kind: "script", place: { functionName: "spin" } });
  });

  test("is what ran before the page's code was stopped, and not the idle time after it", () => {
    const known = evidence({
      samples: [...samples(0, 3000, [frame("spin")]), ...samples(3000, 3000, [], { state: "idle" })],
    });
    expect(lastCause(known)).toBeUndefined();
    expect(lastCause(known, 3000)).toMatchObject({ kind: "script", place: { functionName: "spin" } });
  });

  test("is unknown if the thread was idle, or nothing was sampled", () => {
    expect(lastCause(evidence({ samples: samples(0, 3000, [], { state: "idle" }) }))).toBeUndefined();
    expect(lastCause(evidence({}))).toBeUndefined();
  });
});

describe("a frame of a stack", () => {
  test.each([
    ["work (file:///a.mjs:3:9)", { functionName: "work", url: "file:///a.mjs", line: 3, column: 9 }],
    ["file:///a.mjs:3:9", { functionName: "", url: "file:///a.mjs", line: 3, column: 9 }],
    [
      "Server.handle [as on] (/srv/a b.cjs:3:9)",
      { functionName: "handle", url: "file:///srv/a%20b.cjs", line: 3, column: 9 },
    ],
    ["async run (file:///a.mjs:1:1)", { functionName: "run" }],
    ["async file:///a.mjs:1:1", { functionName: "", url: "file:///a.mjs" }],
  ])("is a place: %s", (text, place) => {
    expect(parseStackFrame(text)).toMatchObject(place);
  });

  test.each(["", "native", "work (<anonymous>)"])("without a line is none: %j", (text) => {
    expect(parseStackFrame(text)).toBeUndefined();
  });
});

describe("the tool's own work", () => {
  const METER = `${TOOL_URL}meter`;

  test.each([METER, "file:///app/node_modules/clearway-lab/dist/jank-in-process.js"])(
    "is never a script that caused a stall: %s",
    (url) => {
      const own = [frame("listOnTimeout", "node:internal/timers"), frame("beat", url)];
      expect(explain(stall(), evidence({ samples: samples(1000, 90, own) }))).toMatchObject({
        kind: "unknown",
        parts: {},
        callers: [],
      });
    },
  );

  test("does not start the app's stall", () => {
    const scripts = [
      script({ url: METER, functionName: "beat", invoker: "FrameRequestCallback" }),
      script({ endMs: 1060 }),
    ];
    expect(explain(stall(), evidence({ scripts }))).toMatchObject({
      place: { functionName: "work" },
      invoker: "TimerHandler:setTimeout",
    });
  });
});

describe("Clearway's own functions", () => {
  const LIBRARY = "file:///app/node_modules/clearway/dist/node/index.js";
  const mapper = (text?: string) =>
    new SourceMapper({
      readScript: async () => (text === undefined ? { problem: undefined } : { text }),
      readMap: async () => ({ problem: "no map" }),
    });
  const sent = (...stack: ReturnType<typeof frame>[]) =>
    explain(stall(), evidence({ samples: samples(1000, 90, [...stack, frame("postMessage", "")]) }));

  test("are not in the stack: the app's function that called them is the cause", async () => {
    const cause = sent(
      frame("main"),
      frame("drain", LIBRARY),
      frame("send"),
      frame("call", LIBRARY),
      frame("post", LIBRARY),
    );
    const located = await locateCause(cause, mapper(), undefined);
    expect(located).toMatchObject({
      kind: "script",
      because: "send ran for 90.0 ms of it",
      place: { functionName: "send", url: APP },
      builtIn: "postMessage",
    });
    expect(located.callers.map(({ functionName }) => functionName)).toEqual(["main"]);
  });

  test.each(["http://a.test/assets/clearway-records-lPABsOy2.js", "http://a.test/clearway-rest.js"])(
    "are those of a bundle's chunk that has Clearway's name: %s",
    async (chunk) => {
      const located = await locateCause(sent(frame("render"), frame("pn", chunk)), mapper(), undefined);
      expect(located).toMatchObject({ place: { functionName: "render" }, callers: [] });
    },
  );

  test("are found in a bundle by its source map", async () => {
    const map = {
      version: 3,
      sources: ["../node_modules/clearway/dist/index.js", "app.ts"],
      names: [],
      mappings: "AAAA;ACAA",
    };
    const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
    const bundle = `post();\nsend();\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
    const cause = sent(frame("send", APP, 2), frame("post", APP, 1));
    expect(await locateCause(cause, mapper(bundle), undefined)).toMatchObject({
      place: { functionName: "send" },
      original: { source: "app.ts" },
      callers: [],
    });
  });

  test("have no place if no function of the app called them", async () => {
    const located = await locateCause(sent(frame("drain", LIBRARY), frame("post", LIBRARY)), mapper(), undefined);
    expect(located).toMatchObject({ kind: "script", because: "Clearway ran for 90.0 ms of it", callers: [] });
    expect(located.place).toBeUndefined();
  });
});
