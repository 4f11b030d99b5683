// SPDX-License-Identifier: MIT OR Apache-2.0

// A model of the ring's protocol: two threads that take one step at a time, each an access to shared state. `explore` tries every order
// of steps. The real steps are in `ring-port.ts` and `ring.ts`.

/**
 * The sender's work, in order: a frame for the ring, a message for the port, the end of a tick. A worker's script may begin with messages
 * that leave before its ring is open, followed by the opening.
 */
export type Script = readonly ("before" | "open" | "ring" | "port" | "tick")[];

/** Mistakes in the protocol. The model must detect each. */
export type Fault =
  | "none"
  | "load before park"
  | "load before publish"
  | "clear after post"
  | "no mark"
  | "skip mark"
  | "open without a message";

// A message without a number: it left before the ring was open.
const unnumbered = -1;

interface State {
  // Shared state.
  ring: number[];
  tail: number;
  head: number;
  parked: 0 | 1;
  port: { number: number; frame: number }[];
  // The sender's own state.
  at: number;
  step: string;
  sent: number;
  posted: number;
  due: boolean;
  owes: boolean;
  seen: number;
  // The receiver's own state.
  doing: string;
  mine: number;
  upTo: number;
  read: number;
  blocked: boolean;
  got: number[];
  message: { number: number; frame: number } | undefined;
}

const start: State = {
  ring: [],
  tail: 0,
  head: 0,
  parked: 0,
  port: [],
  at: 0,
  step: "next",
  sent: 0,
  posted: 0,
  due: false,
  owes: false,
  seen: 0,
  doing: "look",
  mine: 0,
  upTo: 0,
  read: 0,
  blocked: false,
  got: [],
  message: undefined,
};

/** Returns every next state by a step of the sender; none when it waits or is done. A mark in the ring is a negative number. */
function sender(state: State, script: Script, room: number, fault: Fault): State[] {
  const on = (change: Partial<State>): State[] => [{ ...state, ...change }];
  const free = (): boolean => state.tail - state.head < room;
  const done = { at: state.at + 1, step: "next" };
  switch (state.step) {
    case "next": {
      const what = script[state.at];
      if (what === undefined) return [];
      if (what === "tick") return on({ step: "wake" });
      if (what === "open") return on(fault === "open without a message" ? done : { step: "clear" });
      const sent = state.sent + 1;
      if (what === "before") return on({ sent, port: [...state.port, { number: unnumbered, frame: sent }], ...done });
      if (what === "port") return on({ sent, step: fault === "clear after post" ? "post" : "clear" });
      return on({ sent, step: "peek" });
    }
    case "peek":
      // A parked receiver needs a message in any case.
      if (state.parked === 1) return on({ step: fault === "clear after post" ? "post" : "clear" });
      return on({ step: state.due ? "mark first" : "write" });
    case "mark first":
      return free() ? on({ ring: [...state.ring, -state.posted], step: "publish mark first" }) : on({ step: "clear" });
    case "publish mark first":
      return on({ tail: state.tail + 1, due: false, step: "write" });
    case "write":
      // The ring is full, so this frame goes by port.
      if (!free()) return on({ step: fault === "clear after post" ? "post" : "clear" });
      if (fault === "load before publish") return on({ ring: [...state.ring, state.sent], step: "load early" });
      return on({ ring: [...state.ring, state.sent], step: "publish" });
    case "load early":
      return on({ owes: state.owes || state.parked === 1, step: "publish late" });
    case "publish late":
      return on({ tail: state.tail + 1, ...done });
    case "publish":
      return on({ tail: state.tail + 1, step: "load parked" });
    case "load parked":
      return on({ owes: state.owes || state.parked === 1, ...done });
    case "clear":
      return on({ parked: 0, step: "post" });
    case "post": {
      const posted = state.posted + 1;
      const message = { number: posted, frame: script[state.at] === "open" ? 0 : state.sent };
      const step = fault === "clear after post" ? "clear late" : "mark";
      return on({ posted, port: [...state.port, message], due: fault !== "no mark", owes: false, step });
    }
    case "clear late":
      return on({ parked: 0, step: "mark" });
    case "mark":
      if (fault === "no mark" || !free()) return on(done);
      return on({ ring: [...state.ring, -state.posted], step: "publish mark" });
    case "publish mark":
      return on({ tail: state.tail + 1, due: false, ...done });
    case "wake":
      if (!state.owes) return on(done);
      return on({
        owes: false,
        parked: 0,
        step: state.parked === 1 ? "post wake" : "next",
        ...(state.parked === 0 && done),
      });
    default:
      return on({ port: [...state.port, { number: 0, frame: 0 }], ...done });
  }
}

/** Returns every next state by a step of the receiver; none when it is parked without a message. */
function receiver(state: State, fault: Fault): State[] {
  const on = (change: Partial<State>): State => ({ ...state, ...change });
  const steps: State[] = [];
  // Between polls the event loop may turn and deliver a message. A parked receiver only gets messages.
  if ((state.doing === "look" || state.doing === "asleep") && state.port.length > 0) {
    const [message, ...port] = state.port as [State["port"][number], ...State["port"]];
    if (message.number === unnumbered) steps.push(on({ port, got: [...state.got, message.frame], doing: "unpark" }));
    else steps.push(on({ port, message, upTo: state.tail, doing: "drain" }));
  }
  switch (state.doing) {
    case "look":
      if (!state.blocked) steps.push(on({ upTo: state.tail, doing: "drain" }));
      else steps.push(on({ doing: "asleep" }));
      break;
    case "drain": {
      if (state.mine === state.upTo) {
        steps.push(on({ doing: "release" }));
        break;
      }
      const item = state.ring[state.mine]!;
      if (item < 0 && -item > state.read && fault !== "skip mark") steps.push(on({ blocked: true, doing: "release" }));
      else steps.push(on({ mine: state.mine + 1, got: item < 0 ? state.got : [...state.got, item] }));
      break;
    }
    case "release": {
      const { message } = state;
      if (message === undefined) {
        const more = state.mine > state.head || state.blocked;
        const next = more ? "look" : fault === "load before park" ? "check early" : "park";
        steps.push(on({ head: state.mine, doing: next }));
      } else if (message.number === 0) {
        steps.push(on({ head: state.mine, message: undefined, doing: "unpark" }));
      } else {
        const got = message.frame === 0 ? state.got : [...state.got, message.frame];
        steps.push(
          on({ head: state.mine, read: message.number, blocked: false, got, message: undefined, doing: "unpark" }),
        );
      }
      break;
    }
    case "park":
      steps.push(on({ parked: 1, doing: "check" }));
      break;
    case "check":
      steps.push(on({ doing: state.tail === state.mine ? "asleep" : "unpark" }));
      break;
    case "check early":
      steps.push(on({ doing: state.tail === state.mine ? "park late" : "look" }));
      break;
    case "park late":
      steps.push(on({ parked: 1, doing: "asleep" }));
      break;
    case "unpark":
      steps.push(on({ parked: 0, doing: "look" }));
      break;
  }
  return steps;
}

/** Tries every order of steps. Returns the first error, and the number of states. */
export function explore(
  script: Script,
  room: number,
  fault: Fault = "none",
): { wrong: string | undefined; states: number } {
  const known = new Set<string>();
  const todo = [start];
  for (let state = todo.pop(); state !== undefined; state = todo.pop()) {
    const next = [...sender(state, script, room, fault), ...receiver(state, fault)];
    if (state.tail - state.head > room) return { wrong: "more in the ring than it holds", states: known.size };
    if (state.got.some((frame, index) => frame !== index + 1)) {
      return { wrong: `out of order: ${state.got}`, states: known.size };
    }
    if (next.length === 0 && state.got.length < state.sent) {
      return { wrong: `asleep over frame ${state.got.length + 1} of ${state.sent}`, states: known.size };
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
