// SPDX-License-Identifier: MIT OR Apache-2.0

// A model of a caller and a worker with a ring and a port in each direction. It takes one step of one thread at a time: calls go one way,
// answers the other, and a side that finds the other side parked sends by port. `model.ts` has finer steps for the order of frames and for
// a full ring, which are one step here. This model adds that each side's sleep depends on both directions. How long a side spins is
// left open: wherever AdaptiveSpin decides, the model takes both branches. `exploreBoth` tries every order of steps.

/** Mistakes of a caller that a message has woken, and of a sender. The model must detect each. */
export type Slip = "none" | "awake without looking" | "not parked after all" | "clear after post" | "sleeps unasked";

const [worker, caller] = [0, 1] as const;

/** A side's own state. `pc` is the next step of its thread. */
interface Side {
  pc: string;
  /** The frame that it is sending, and the step after that. */
  out: number;
  back: string;
  posted: number;
  read: number;
  blocked: boolean;
  owes: boolean;
  /** Whether it polls in a later turn of its event loop: the caller by `Poller`, the worker by `SpinThenPark`. */
  looks: boolean;
  /** The message that it is handling: its number and its frame. Undefined outside of one. */
  message: [number, number] | undefined;
  /** Whether this poll has found a frame. */
  found: boolean;
  /** Number of frames received, calls or answers. */
  got: number;
}

interface State {
  // Indexed by the receiving side: published frames and marks (negative), messages, and whether the side is parked.
  rings: [number[], number[]];
  ports: [[number, number][], [number, number][]];
  parked: [number, number];
  sides: [Side, Side];
  made: number;
  /** Calls whose tasks are asynchronous and have not ended. */
  open: number[];
}

const idle: Side = {
  pc: "loop",
  out: 0,
  back: "",
  posted: 0,
  read: 0,
  blocked: false,
  owes: false,
  looks: false,
  message: undefined,
  found: false,
  got: 0,
};

const returned: Partial<Side> = { out: 0, back: "" };

// Steps that do not touch the other side's state. Their order does not matter, so the model takes them first.
const ownOnly = new Set(["read", "look", "rest", "stay"]);

/** Returns every possible next state by a step of one side. */
function steps(state: State, me: 0 | 1, calls: number, atOnce: number, slip: Slip): State[] {
  const there = me === worker ? caller : worker;
  const side = state.sides[me];
  const next: State[] = [];
  const on = (change: Partial<Side>, shared: (copy: State) => void = () => {}): void => {
    const { rings, ports, parked, sides, made, open } = state;
    const copy: State = {
      rings: [[...rings[0]], [...rings[1]]],
      ports: [[...ports[0]], [...ports[1]]],
      parked: [...parked],
      sides: [...sides],
      made,
      open: [...open],
    };
    copy.sides[me] = { ...side, ...change };
    shared(copy);
    next.push(copy);
  };
  const publish = (what: number) => (copy: State) => void copy.rings[there].push(what);
  const setParked = (whose: 0 | 1, to: number) => (copy: State) => {
    copy.parked[whose] = to;
  };
  const expects = state.made > state.sides[caller].got;
  switch (side.pc) {
    case "loop": {
      const message = state.ports[me][0];
      if (message) on({ pc: "drain", message, found: false }, (copy) => void copy.ports[me].shift());
      if (side.looks) on({ pc: me === worker ? "look" : "drain", looks: me === caller, found: false });
      if (me === caller && state.made < calls && state.made - side.got < atOnce)
        on({ pc: "send", out: state.made + 1, back: "loop" }, (copy) => void copy.made++);
      const over = me === worker ? state.open[0] : undefined;
      if (over !== undefined) on({ pc: "send", out: over, back: "loop" }, (copy) => void copy.open.shift());
      break;
    }
    // Sending: `RingPort.send`, `post` and `wake`.
    case "send":
      on({ pc: state.parked[there] === 0 ? "write" : slip === "clear after post" ? "post" : "clear" });
      break;
    case "write":
      on({ pc: "load" }, publish(side.out));
      break;
    case "load":
      on({ pc: "sent", owes: side.owes || state.parked[there] === 1 });
      break;
    case "clear":
      on({ pc: "post" }, setParked(there, 0));
      break;
    case "post":
      on({ pc: slip === "clear after post" ? "clear late" : "mark", posted: side.posted + 1 }, (copy) => {
        copy.ports[there].push([side.posted + 1, side.out]);
      });
      break;
    case "clear late":
      on({ pc: "mark" }, setParked(there, 0));
      break;
    case "mark":
      on({ pc: "sent", owes: false }, publish(-side.posted));
      break;
    case "sent":
      if (me === caller) on({ pc: "flush", looks: true }, setParked(me, 0));
      if (me === worker || !side.looks) on({ pc: "flush" });
      break;
    case "flush":
      if (side.owes && state.parked[there] === 1) on({ pc: "wake", owes: false }, setParked(there, 0));
      else on({ ...returned, pc: side.back, owes: false });
      break;
    case "wake":
      on({ ...returned, pc: side.back }, (copy) => void copy.ports[there].push([0, 0]));
      break;
    // Receiving: `RingPort.drain` and `receive`. A call is answered at once or later.
    case "drain": {
      const item = state.rings[me][0];
      const take = (copy: State) => void copy.rings[me].shift();
      if (item === undefined) on({ pc: "read" });
      else if (item < 0 && -item > side.read) on({ pc: "read", blocked: true });
      else if (item < 0) on({ pc: "drain" }, take);
      else handle(item, "drain", take);
      break;
    }
    case "read": {
      const { message } = side;
      const end = me === worker ? "rest" : "stay";
      if (message === undefined) on({ pc: end });
      else if (message[0] === 0) on({ pc: "woken", message: undefined });
      // Delivers the message's frame, then continues with the ring after the mark.
      else if (message[0] > side.read) {
        handle(message[1], "drain", (copy) => {
          Object.assign(copy.sides[me], { read: message[0], blocked: false });
        });
      } else on({ pc: "woken", message: undefined });
      break;
    }
    case "woken":
      if (me === worker) {
        // `SpinThenPark.watch`
        if (side.looks) on({ pc: "loop" });
        else on({ pc: "look" }, setParked(me, 0));
      } else if (side.looks) on({ pc: "loop" });
      else if (slip === "awake without looking") on({ pc: "loop" });
      else {
        if (expects) on({ pc: "loop", looks: true }, setParked(me, 0));
        on({ pc: side.blocked ? "loop" : "park" });
      }
      break;
    // The worker's poll: `SpinThenPark.#look`.
    case "look":
      on({ pc: "drain", looks: false, found: false });
      break;
    case "rest":
      if (side.found) {
        on({ pc: "look" });
        on({ pc: "loop", looks: true });
      } else if (side.blocked) on({ pc: "loop" });
      else on({ pc: "park" });
      break;
    // The caller's poll: `Poller.#stays`.
    case "stay":
      if (side.found) on({ pc: "loop" });
      else if (side.blocked) on({ pc: "loop", looks: false });
      else on({ pc: slip === "sleeps unasked" ? "loop" : "park", looks: false });
      break;
    case "park":
      on({ pc: "check" }, setParked(me, 1));
      break;
    case "check":
      if (state.rings[me].length === 0) on({ pc: "loop", looks: false });
      else on({ pc: "loop", looks: slip !== "not parked after all" || me === worker }, setParked(me, 0));
  }

  /** Receives a frame. */
  function handle(frame: number, back: string, shared: (copy: State) => void): void {
    const got = side.got + 1;
    // Calls arrive in order. Answers arrive in the order in which tasks end.
    if (me === worker && frame !== got) return on({ pc: "out of order" });
    if (me === caller) return on({ pc: back, got, found: true }, shared);
    on({ pc: "send", out: frame, back, got, found: true }, shared);
    on({ pc: back, got, found: true }, (copy) => {
      shared(copy);
      copy.open.push(frame);
    });
  }
  return next;
}

/** Tries every order of steps for a number of calls, `atOnce` of them in flight. Returns the first error in an end state. */
export function exploreBoth(
  calls: number,
  atOnce: number,
  slip: Slip = "none",
): { wrong: string | undefined; states: number } {
  const start: State = {
    rings: [[], []],
    ports: [[], []],
    // The state after `openRing`, with a worker that has read `Ring` and nothing else.
    parked: [1, 1],
    sides: [idle, idle],
    made: 0,
    open: [],
  };
  const known = new Set<string>();
  const todo = [start];
  for (let state = todo.pop(); state !== undefined; state = todo.pop()) {
    const sides = ([worker, caller] as const).filter((me) => ownOnly.has(state.sides[me].pc)).slice(0, 1);
    const next = (sides.length > 0 ? sides : ([worker, caller] as const)).flatMap((me) =>
      steps(state, me, calls, atOnce, slip),
    );
    if (state.sides[worker].pc === "out of order") return { wrong: "out of order", states: known.size };
    if (next.length === 0 && state.sides[caller].got < calls) {
      return { wrong: `asleep: ${state.made} calls, ${state.sides[caller].got} answers`, states: known.size };
    }
    for (const each of next) {
      const key = JSON.stringify(each);
      if (known.has(key)) continue;
      known.add(key);
      todo.push(each);
    }
  }
  return { wrong: undefined, states: known.size };
}
