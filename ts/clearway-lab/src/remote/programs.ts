// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the servers and the packages that the family `remote` needs, and says how to install what is missing. Node only.
import { existsSync } from "node:fs";
import path from "node:path";
import { packagesMissing } from "../machine/optional-packages.js";

/** Debian installs servers in /usr/sbin, which is not on every user's path. */
const FURTHER_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];

const SERVERS = {
  "nats-server":
    "scripts/setup.sh nats, apt-get install nats-server, or https://docs.nats.io/running-a-nats-service/introduction/installation",
  "redis-server":
    "scripts/setup.sh redis, apt-get install redis-server, or https://redis.io/docs/latest/operate/oss_and_stack/install/",
} as const;

export type ServerName = keyof typeof SERVERS;

/** Returns the path of a server's program. Undefined if it is not installed. */
export function findServer(name: ServerName, searched = process.env["PATH"] ?? ""): string | undefined {
  return [...searched.split(path.delimiter), ...FURTHER_FOLDERS]
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, name))
    .find((each) => existsSync(each));
}

/** Returns why mechanisms that need this server and these packages cannot run here, and the remedy. Undefined if they can. */
export function remoteProblem(
  server: ServerName | undefined,
  packages: readonly string[],
  find: typeof findServer = findServer,
  isThere?: (name: string) => boolean,
): string | undefined {
  const missing = packagesMissing(packages, isThere);
  if (missing !== undefined) return missing;
  if (server !== undefined && find(server) === undefined) return `${server} is not installed: ${SERVERS[server]}`;
  return undefined;
}
