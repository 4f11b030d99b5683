// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { ClearwayError, caused, invalid, type Rules, type Test } from "clearway/remote";

/** How a pool or a server reaches NATS. */
export interface ConnectOptions {
  /** Addresses of the NATS servers, such as `"nats://10.0.0.1:4222"`. Default `"127.0.0.1:4222"`. */
  servers?: string | readonly string[] | undefined;
  /**
   * Options of the NATS client: `tls`, `token`, `user` and `pass`, `authenticator` (NKEYs, credentials), `inboxPrefix` and others. Unlike the
   * client's defaults, the connection is never given up: it reconnects until `close()`. And a server that is silent for 20 to 30 s counts as lost
   * (`pingInterval: 10_000, maxPingOut: 2`).
   */
  nats?: Omit<NodeConnectionOptions, "servers" | "name"> | undefined;
  /** An open connection, instead of `servers` and `nats`. It stays open when the pool or the server closes. */
  connection?: NatsConnection | undefined;
  /** Name of the connection, for NATS's monitoring and for error messages. */
  name?: string | undefined;
}

const texts: Test = (value) =>
  typeof value === "string" ||
  (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")) ||
  "a string, or an array of strings";

const connection: Test = (value) => {
  const { publish, subscribe, status, isClosed, isDraining } = (value ?? {}) as Partial<NatsConnection>;
  return (
    [publish, subscribe, status, isClosed, isDraining].every((each) => typeof each === "function") ||
    "an open NatsConnection"
  );
};

/** Tests whether a value is an object, and no array. */
export const anObject: Test = (value) =>
  (typeof value === "object" && value !== null && !Array.isArray(value)) || "an object";

/** The rules for {@link ConnectOptions}. */
export const connectRules: Rules = { servers: texts, nats: anObject, connection, name: "string" };

// A subject is a list of tokens with dots between them. `*` and `>` are wildcards.
const moduleForm = /^[A-Za-z0-9_-]{1,64}$/;
const versionForm = /^[A-Za-z0-9][A-Za-z0-9.+-]{0,63}$/;

/** The rules for the name of a module and for its version, which become parts of NATS subjects. */
export const moduleRules: Rules = {
  module: (value) =>
    (typeof value === "string" && moduleForm.test(value)) || "1 to 64 letters, digits, hyphens and underscores",
  version: (value) =>
    (typeof value === "string" && versionForm.test(value)) ||
    "1 to 64 letters, digits, dots, hyphens and plus signs, which begin with a letter or a digit",
};

/** Throws `invalid-argument` if the options name no module, or a connection and a way to make one. */
export function checkConnect(options: ConnectOptions & { module?: string }): void {
  if (options.module === undefined) throw invalid("module", "given", undefined);
  if (options.connection === undefined) return;
  for (const name of ["servers", "nats"] as const)
    if (options[name] !== undefined) throw invalid(name, "left out if there is a connection", options[name]);
}

/** A connection, and whether it is closed with its pool or server. */
export interface Connected {
  readonly connection: NatsConnection;
  /** Whether the pool or the server made the connection, and closes it. */
  readonly own: boolean;
  /** The prefix of inboxes that the connection's user may use. Undefined for NATS's own. */
  readonly inboxPrefix: string | undefined;
}

/** Connects to NATS. Rejects with `connect-failed`. */
export async function connected(options: ConnectOptions): Promise<Connected> {
  if (options.connection) {
    if (options.connection.isClosed() || options.connection.isDraining())
      throw new ClearwayError("connect-failed", "the connection to NATS is closed, or is closing");
    // The client keeps its options in a property that its types do not have.
    const { options: its } = options.connection as { options?: { inboxPrefix?: string } };
    return { connection: options.connection, own: false, inboxPrefix: its?.inboxPrefix };
  }
  const { servers, nats, name } = options;
  await refuseFakeMicrotasks();
  try {
    const connection = await connect({
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      pingInterval: 10_000,
      maxPingOut: 2,
      ...nats,
      ...(servers !== undefined && { servers: typeof servers === "string" ? servers : [...servers] }),
      ...(name !== undefined && { name }),
    });
    return { connection, own: true, inboxPrefix: nats?.inboxPrefix };
  } catch (cause) {
    const where = servers === undefined ? "127.0.0.1:4222" : [servers].flat().map(withoutCredentials).join(", ");
    throw caused(
      "connect-failed",
      `cannot connect to NATS at ${where}: ${(cause as Error | undefined)?.message}`,
      cause,
    );
  }
}

// NATS's client sends with the global at the time of use. With a fake one it never connects, and its own limit may be a fake timer.
async function refuseFakeMicrotasks(): Promise<void> {
  let ran = false;
  globalThis.queueMicrotask(() => {
    ran = true;
  });
  await undefined;
  if (!ran)
    throw new ClearwayError(
      "connect-failed",
      "queueMicrotask is replaced by one that does not run, as fake timers of tests do; NATS's client needs the real one",
    );
}

/** Makes the part of a pool or a server that subscribes. Throws `connect-failed` if the NATS client refuses to. */
export function subscribed<Part>(make: () => Part): Part {
  try {
    return make();
  } catch (cause) {
    throw caused("connect-failed", `cannot subscribe to NATS: ${(cause as Error | undefined)?.message}`, cause);
  }
}

// An address may contain a user and a password, which must not appear in messages and logs. A password may contain an `@`.
function withoutCredentials(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/, "$1");
}
