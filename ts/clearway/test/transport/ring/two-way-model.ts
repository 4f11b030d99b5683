// SPDX-License-Identifier: MIT OR Apache-2.0

// A caller and a worker with a ring and a port each way, as a machine that takes one step of one thread at a time: calls go
// there, answers come back, and whoever finds the other asleep sends by port. What `model.ts` shows in finer steps (the
// order, a full ring) is one step here; what is new is that each side's sleep depends on both directions. How long anybody
// waits awake is left open: wherever AdaptiveSpin decides, both ways are gone. `explore` goes through every order of steps.

/** What the caller may forget when a message has woken it, and what the sender may do wrong. */
export type Slip = "none" | "awake without looking" | "not parked after all" | "clear after post" | "sleeps unasked";

const [worker, caller] = [0, 1] as const;

/** A side's own state; `pc` is where its thread stands. */
interface Side {
  pc: string;
  /** What it is sending, and where it goes on afterwards. */
  out: number;
  back: string;
  posted: number;
  read: number;
  blocked: boolean;
  owes: boolean;
  /** Whether it looks in a later turn of its event loop: the caller's poller, the worker's vigil. */
  looks: boolean;
  /** The message in hand: its number and its frame; undefined outside of one. */
  message: [number, number] | undefined;
  /** Whether this look has found anything. */
  found: boolean;
  /** How many frames came, calls or answers. */
  got: number;
}

interface State {
  // By the side that receives: published frames, marks (negative), messages, and whether it has asked to be woken.
  rings: [number[], number[]];
  ports: [[number, number][], [number, number][]];
  parked: [number, number];
  sides: [Side, Side];
  made: number;
  /** Calls whose tasks are asynchronous and not over. */
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

// Steps that touch nothing of the other side's: it does not matter when they are taken, so they are taken first.
const ownOnly = new Set(["read", "look", "rest", "stay"]);

/** Every step of one side from here. */
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
    // Sending: `RingLane.send`, `post` and `wake`.
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
    // Receiving: `RingLane.drain` and `receive`. A call is answered at once, or by and by.
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
      // Then what stands behind the mark; it is the last of this message.
      else if (message[0] > side.read) {
        handle(message[1], "drain", (copy) => {
          Object.assign(copy.sides[me], { read: message[0], blocked: false });
        });
      } else on({ pc: "woken", message: undefined });
      break;
    }
    case "woken":
      if (me === worker) {
        // `Vigil.watch`
        if (side.looks) on({ pc: "loop" });
        else on({ pc: "look" }, setParked(me, 0));
      } else if (side.looks) on({ pc: "loop" });
      else if (slip === "awake without looking") on({ pc: "loop" });
      else {
        if (expects) on({ pc: "loop", looks: true }, setParked(me, 0));
        on({ pc: side.blocked ? "loop" : "park" });
      }
      break;
    // The worker's look: `Vigil.look`.
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
    // The caller's: `Poller.#stays`.
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

  /** A frame arrived. */
  function handle(frame: number, back: string, shared: (copy: State) => void): void {
    const got = side.got + 1;
    // Calls come in their order; answers in that in which tasks end.
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

/** Goes through every order of steps of so many calls, some at once. Returns what is wrong at one of the ends. */
export function exploreBoth(
  calls: number,
  atOnce: number,
  slip: Slip = "none",
): { wrong: string | undefined; states: number } {
  const start: State = {
    rings: [[], []],
    ports: [[], []],
    // As `openRing` leaves them, and a worker that has read `Ring` and found nothing else.
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
