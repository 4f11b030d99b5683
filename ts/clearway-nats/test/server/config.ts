// SPDX-License-Identifier: MIT OR Apache-2.0

/** A user of a test server: a token for everybody, or NKEY users with their permissions. */
export type Access =
  | { token: string }
  | { users: readonly { nkey: string; publish?: readonly string[]; subscribe?: readonly string[] }[] };

/** The settings of one nats-server of a test. */
export interface ServerConfig {
  /** The port for clients. -1 lets the server choose one. */
  port: number;
  /** The server's folder: its ports file, its configuration and its streams. */
  folder: string;
  /** Whether the server has JetStream. */
  jetstream: boolean;
  /** Name of the server. Servers of a cluster need different names. */
  name: string;
  access: Access | undefined;
  /** Maximum size of a message, in bytes. */
  payloadBytesMax: number | undefined;
  /** Maximum bytes that may wait for a client. The server cuts the connection of a client that is slower. */
  pendingBytesMax: number | undefined;
  /** Maximum bytes of streams in files, and of those in memory. Default: 4 GB and 1 GB. */
  storageBytesMax: number | undefined;
  cluster: { port: number; routes: readonly number[] } | undefined;
}

const quoted = (text: string): string => JSON.stringify(text);
const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(", ")}]`;

/** Returns the text of a configuration file for nats-server. */
export function configText(config: ServerConfig): string {
  const { port, folder, name, access, payloadBytesMax, pendingBytesMax, cluster } = config;
  const lines = [
    `server_name: ${quoted(name)}`,
    `host: "127.0.0.1"`,
    `port: ${port}`,
    `ports_file_dir: ${quoted(folder)}`,
    `http: "127.0.0.1:-1"`,
  ];
  if (payloadBytesMax !== undefined) lines.push(`max_payload: ${payloadBytesMax}`);
  if (pendingBytesMax !== undefined) lines.push(`max_pending: ${pendingBytesMax}`);
  if (config.jetstream) {
    const [memory, file] = [config.storageBytesMax ?? "1G", config.storageBytesMax ?? "4G"];
    lines.push(
      "jetstream {",
      `  store_dir: ${quoted(`${folder}/store`)}`,
      `  max_mem: ${memory}`,
      `  max_file: ${file}`,
      "}",
    );
  }
  if (cluster) {
    const routes = cluster.routes.map((each) => `nats://127.0.0.1:${each}`);
    lines.push("cluster {", '  name: "test"', '  host: "127.0.0.1"', `  port: ${cluster.port}`);
    lines.push(`  routes: ${list(routes)}`, "}");
  }
  if (access) lines.push("authorization {", ...accessLines(access), "}");
  return `${lines.join("\n")}\n`;
}

function accessLines(access: Access): string[] {
  if ("token" in access) return [`  token: ${quoted(access.token)}`];
  return [
    "  users: [",
    ...access.users.map(({ nkey, publish, subscribe }) => {
      const rights: string[] = [];
      if (publish) rights.push(`publish: ${list(publish)}`);
      if (subscribe) rights.push(`subscribe: ${list(subscribe)}`);
      return `    { nkey: ${quoted(nkey)}${rights.length > 0 ? `, permissions: { ${rights.join(", ")} }` : ""} }`;
    }),
    "  ]",
  ];
}
